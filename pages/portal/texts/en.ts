/** What the portal says. */
export const en = {
  title: "Your bookings",
  titleWith: (name: string) => `Your bookings with ${name}`,
  signIn: {
    heading: "See your bookings",
    lead: (name: string) =>
      `Enter the e-mail address that ${name} has of you. A code will be mailed to it.`,
    leadUnnamed: "Enter the e-mail address that you booked with. A code will be mailed to it.",
    email: "E-mail address",
    send: "Mail me a code",
    codeHeading: "Enter the code",
    codeLead: (email: string) =>
      `If ${email} belongs to a client, a code of six digits is on its way. It works once, within ten minutes; use the newest mail.`,
    filledIn: "The code from your mail is filled in. Sign in to use it.",
    code: "Code",
    codeHint: "Six digits",
    verify: "Sign in",
    again: "Ask for another code",
    nobody:
      "This page needs to know whose client you are. Open it from a mail that you got, or from the booking page.",
    unknown:
      "There is nobody here by this name who takes bookings or orders. Open this page from a mail that you got.",
  },
  ended: {
    over: "You have been signed out: after an hour, in another tab, or because something has changed. Sign in again to go on, or open the link in the mail once more.",
    signedOut: "You are signed out.",
  },
  link: {
    manage: {
      heading: "Your booking",
      lead: "The link in your mail opens one booking, which you can move or cancel here.",
      button: "Open the booking",
      thanks: "",
    },
    confirm: {
      heading: "One more step",
      lead: "Confirm here what you have booked or ordered. Until then it is only kept for you.",
      button: "Confirm",
      thanks: "",
    },
    unsubscribe: {
      heading: "No more reminders",
      lead: "You will not be reminded of bookings any more. Other mails about your bookings and orders still come.",
      button: "Stop reminders",
      thanks: "You will get no more reminders.",
    },
    "confirm-address": {
      heading: "Confirm your address",
      lead: "Confirm that this address is yours. Mails about bookings and orders can then go to your clients.",
      button: "Confirm the address",
      thanks: "Your address is confirmed. Mails now go to your clients.",
    },
  },
  onward: "To your bookings",
  confirmed: {
    confirmed: {
      heading: "Your booking is confirmed",
      thanks: "A mail with all of it, and a link to change it, is on its way.",
    },
    pending: {
      heading: "Your request is on its way",
      thanks: "It still has to be confirmed by hand. You get a mail when it is.",
    },
    cancelled: {
      heading: "Your booking",
      thanks: "You had confirmed this booking. It is not open any more.",
    },
    completed: {
      heading: "Your booking",
      thanks: "You had confirmed this booking. It is not open any more.",
    },
    no_show: {
      heading: "Your booking",
      thanks: "You had confirmed this booking. It is not open any more.",
    },
    order: {
      heading: "Your order is placed",
      thanks: "A mail with all of it is on its way.",
    },
  },
  /** Why a link does nothing, by the code of the refusal. */
  refused: {
    invalid_link:
      "This link does not work any more. It may be from an older mail, for another address, or what it is about may be over. Use the newest mail, or sign in with a code.",
    slot_taken: "Too late: meanwhile somebody else has taken this time. Please choose another one.",
    hold_expired:
      "Too late: this was kept for half an hour, and no longer. Please book or order again.",
    invalid_transition: "This has been cancelled and cannot be confirmed any more.",
  } as Record<string, string>,
  nav: {
    label: "What to see",
    upcoming: "Upcoming",
    past: "Past",
    orders: "Orders",
    signOut: "Sign out",
  },
  bookings: {
    none: {
      upcoming: "You have no bookings to come.",
      past: "You have no past bookings.",
      one: "This booking is not there any more.",
    },
    book: "Book a time",
    status: {
      pending: "To be confirmed",
      confirmed: "Confirmed",
      cancelled: "Cancelled",
      completed: "Took place",
      no_show: "Missed",
      hold: "Kept for you",
    },
    pending: (name: string) => `${name} still has to confirm this time. You get a mail then.`,
    holdNote: (until: string) =>
      `Kept for you until ${until}. Open the link in the mail that we sent you to confirm it.`,
    holdPayNote: (until: string) =>
      `Kept for you until ${until}. Pay to book it; without the payment it becomes free for others.`,
    cancelled: "Cancelled",
    cancelledBy: {
      owner: (name: string) => `by ${name}`,
      client: () => "by you",
      system: () => "not confirmed or paid in time",
    },
    reason: "Reason",
    price: "Price",
    changeUntil: "You can move or cancel it until",
    tooLate: "It could be moved or cancelled here until",
    contact: (name: string) => `If something has come up, please contact ${name} directly.`,
    move: "Move",
    cancel: "Cancel booking",
  },
  move: {
    heading: "Move your booking",
    chosen: "New time:",
    submit: "Move to this time",
    other: "Choose another time",
    back: "Keep the time",
    done: "Your booking has been moved.",
    donePending: (name: string) =>
      `Your booking has been moved. ${name} still has to confirm the new time.`,
    pendingWarning: (name: string) =>
      `${name} has to confirm the new time. The earlier one no longer applies then.`,
    gone: "This service is not offered at the moment, so the booking cannot be moved here.",
  },
  cancel: {
    heading: "Cancel your booking",
    reason: (name: string) => `Reason, which ${name} can read`,
    submit: "Cancel the booking",
    back: "Keep the booking",
    money: "What you have paid online for it goes back to you.",
    done: "Your booking is cancelled.",
  },
  orders: {
    none: "You have no orders.",
    number: (number: number) => `Order ${number}`,
    discount: "Discount",
    total: "Total",
    tax: "of which tax",
    paid: "Paid",
    refunded: "Paid back",
    status: {
      pending: "Received",
      confirmed: "Confirmed",
      fulfilled: "Done",
      cancelled: "Cancelled",
      hold: "Kept for you",
    },
    payment: {
      unpaid: "Not paid",
      partially_paid: "Paid in part",
      paid: "Paid",
      partially_refunded: "Paid back in part",
      refunded: "Paid back",
    },
    pay: (amount: string) => `Pay ${amount}`,
    holdNote: (until: string) =>
      `Kept for you until ${until}. Without a payment or confirmation it is cancelled.`,
    hasPaid: "Thank you. The payment shows here as soon as it has arrived.",
    notPaid: "You came back without paying.",
  },
};

export type PortalTexts = typeof en;
