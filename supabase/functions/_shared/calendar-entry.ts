/** What makes entries of one booking the same one, in whatever calendar: mails and feeds say it alike. */

export interface EntryIdentity {
  uid: string;
  /** Rises with every change. */
  sequence: number;
  /** When the booking last changed (RFC 5545, 3.8.7.2), as the database writes instants. */
  stamp: string;
}

export function entryIdentity(booking: {
  id: string;
  version: number;
  updated_at: string;
}): EntryIdentity {
  return { uid: booking.id, sequence: booking.version, stamp: booking.updated_at };
}
