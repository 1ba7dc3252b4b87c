/** What all pages say. */
export const en = {
  loading: "One moment …",
  tryAgain: "Try again",
  optional: "optional",
  otherLanguage: "Language",
  free: "free",
  minutes: (minutes: number) => {
    const hours = Math.floor(minutes / 60);
    const rest = minutes % 60;
    return [hours && `${hours} h`, rest && `${rest} min`].filter(Boolean).join(" ") || "0 min";
  },
  slots: {
    earlier: "Previous",
    later: "Next",
    chooseDay: "Choose a day to see its times.",
    none: "Nothing is free this month.",
    search: "Look for the next free day",
    noneAtAll: "Nothing is free at the moment.",
    yourZone: (zone: string) => `Times are in your time zone, ${zone}.`,
    theirZone: (zone: string, name: string) => `${name} works by the clock of ${zone}.`,
    there: (time: string, zone: string) => `${time} in ${zone}`,
    when: "When",
    inZone: (zone: string) => `In ${zone}`,
    next: "These are free next:",
  },
  errors: {
    network: "There is no connection. What you entered is still here: please try again.",
    busy: "Many people are here right now. Please try again in a moment.",
    limit: (minutes: number) =>
      minutes > 1
        ? `Too many tries. Please try again in ${minutes} minutes.`
        : "Too many tries. Please try again in a minute.",
    unknown: "Something went wrong. Please try again.",
    fields: "Please look at the marked fields.",
    codes: {
      slot_taken: "Somebody else has just taken this time.",
      not_accepting: "No bookings or orders are taken at the moment.",
      inactive: "This service is no longer offered.",
      past: "This time is over.",
      too_soon: "This time is too soon now.",
      too_far: "This day is too far ahead.",
      closed_date: "This day is closed.",
      outside_hours: "This time is outside working hours.",
      not_on_grid: "Appointments do not begin at this time.",
      too_late: "It is too late to change this yourself.",
      too_many_open: "You have several open ones already. Please wait until one of them is over.",
      invalid_transition: "It has changed meanwhile, and this is no longer possible.",
      hold_expired: "The time in which this was kept for you is over.",
      insufficient_stock: "There are not that many left.",
      product_unavailable: "This is no longer sold.",
      invalid_items: "Please enter a quantity of 1 or more.",
      total_changed: "The price has changed. Please look at it again.",
      payments_unavailable: "Paying is not possible here at the moment.",
      amount_not_payable: "This amount cannot be paid online.",
      nothing_due: "It is paid already.",
      payments_not_configured: "Paying is not possible here at the moment.",
      payment_provider_unavailable: "The payment page does not answer. Please try again.",
      invalid_link: "This link no longer opens anything.",
      invalid_otp: "This code does not open. Ask for a new one, and use the newest mail.",
      session_not_found: "You are signed out. Please sign in again.",
      PGRST301: "There is nothing here, or no longer.",
      PGRST303: "Your session has ended. Please sign in again.",
    } as Record<string, string>,
    byField: {
      email: "Please enter an e-mail address that can be used.",
      code: "The code has six digits.",
      reason: "This is too long: at most 1000 characters.",
      client_name: "Please enter your name.",
      client_email: "Please enter an e-mail address that can be used.",
      client_phone: "This is not a telephone number that can be used.",
      notes: "This is too long: at most 4000 characters.",
    } as Record<string, string>,
  },
};

export type SharedTexts = typeof en;
