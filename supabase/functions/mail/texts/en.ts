import type { Texts } from "./texts.ts";

/** Day before month and hours to 24, since readers of English mails are anywhere. */
export const en: Texts = {
  locale: "en-GB",

  client: {
    booking_received: {
      subject: ({ service, professional, when }) =>
        `Request received: ${service} with ${professional}, ${when}`,
      heading: "We have your request",
      lead: ({ professional }) =>
        `Thank you for your booking. ${professional} still has to confirm the time below; until then it is a request.`,
    },
    booking_confirmed: {
      subject: ({ service, professional, when }) =>
        `Confirmed: ${service} with ${professional}, ${when}`,
      heading: "Your booking is confirmed",
      lead: ({ professional }) => `Your time with ${professional} is booked. Here is what to know.`,
    },
    booking_moved: {
      subject: ({ service, professional, when }) =>
        `New time: ${service} with ${professional}, ${when}`,
      heading: "Your booking has a new time",
      lead: ({ professional }) =>
        `Your time with ${professional} has moved and is confirmed as below. The earlier time no longer applies.`,
    },
    booking_moved_pending: {
      subject: ({ service, professional, when }) =>
        `To be confirmed: ${service} with ${professional}, ${when}`,
      heading: "Your new time is not confirmed yet",
      lead: ({ professional }) =>
        `Your booking has moved, and ${professional} still has to confirm the new time. The earlier time no longer applies, even if your calendar still shows it.`,
    },
    booking_cancelled_by_owner: {
      subject: ({ service, professional, when }) =>
        `Cancelled: ${service} with ${professional}, ${when}`,
      heading: "Your booking has been cancelled",
      lead: ({ professional }) =>
        `${professional} had to cancel the booking below. Sorry for the change of plans.`,
    },
    booking_cancelled_by_client: {
      subject: ({ service, professional, when }) =>
        `Cancelled: ${service} with ${professional}, ${when}`,
      heading: "Your booking is cancelled",
      lead: ({ professional }) =>
        `You have cancelled the booking below with ${professional}. There is nothing else to do.`,
    },
    booking_cancelled: {
      subject: ({ service, professional, when }) =>
        `Cancelled: ${service} with ${professional}, ${when}`,
      heading: "Your booking has been cancelled",
      lead: ({ professional }) => `The booking below with ${professional} no longer stands.`,
    },
    booking_reminder: {
      subject: ({ service, professional, when }) =>
        `Reminder: ${service} with ${professional}, ${when}`,
      heading: "Your booking is coming up",
      lead: ({ professional }) => `A short reminder of your time with ${professional}.`,
    },
    booking_to_confirm: {
      subject: ({ service, professional, when }) =>
        `Please confirm: ${service} with ${professional}, ${when}`,
      heading: "One more step: confirm your booking",
      lead: ({ professional }) =>
        `The time below with ${professional} is kept for 30 minutes from your request. Confirm it below, or it becomes free for others.`,
    },
    order_received: {
      subject: ({ number, professional }) => `Order ${number} received by ${professional}`,
      heading: "Thank you for your order",
      lead: ({ number, professional }) =>
        `${professional} has received order ${number} and still has to confirm it.`,
    },
    order_confirmed: {
      subject: ({ number, professional }) => `Order ${number} confirmed by ${professional}`,
      heading: "Your order is confirmed",
      lead: ({ number, professional }) => `${professional} has confirmed order ${number}.`,
    },
    order_cancelled: {
      subject: ({ number, professional }) => `Order ${number} with ${professional} cancelled`,
      heading: "Your order has been cancelled",
      lead: ({ number, professional }) =>
        `Order ${number} with ${professional} has been cancelled. This is what it was.`,
    },
    order_to_confirm: {
      subject: ({ number, professional }) => `Please confirm: order ${number} with ${professional}`,
      heading: "One more step: confirm your order",
      lead: ({ number, professional }) =>
        `Order ${number} with ${professional} is kept for 30 minutes from when it was placed. Confirm it below, or it lapses.`,
    },
    payment_received: {
      subject: ({ amount, number, professional }) =>
        `Payment of ${amount} received by ${professional}, order ${number}`,
      heading: "Your payment has arrived",
      lead: ({ amount, number, professional }) =>
        `Thank you. ${professional} has received ${amount} for order ${number}.`,
    },
    payment_returned: {
      subject: ({ amount, number, professional }) =>
        `Payment of ${amount} to ${professional} goes back to you, order ${number}`,
      heading: "Your payment goes back to you",
      lead: ({ amount, number, professional }) =>
        `Your payment of ${amount} for order ${number} with ${professional} came too late, or had been made before. All of it goes back to you by itself; your bank may take some days.`,
    },
    payment_refunded: {
      subject: ({ amount, number, professional }) =>
        `Refund of ${amount} from ${professional}, order ${number}`,
      heading: "You have been refunded",
      lead: ({ amount, number, professional }) =>
        `${professional} has refunded ${amount} of what you paid for order ${number}.`,
    },
  },

  professional: {
    new_booking: {
      subject: ({ client, service, when }) => `New booking: ${client}, ${service}, ${when}`,
      heading: "You have a new booking",
      lead: ({ client, service }) => `${client} has booked ${service}.`,
    },
    new_booking_pending: {
      subject: ({ client, service, when }) => `To confirm: ${client}, ${service}, ${when}`,
      heading: "A booking is waiting for you",
      lead: ({ client, service }) =>
        `${client} would like to book ${service}. The time is kept until you confirm or decline it.`,
    },
    booking_moved: {
      subject: ({ client, service, when }) => `Moved: ${client}, ${service}, ${when}`,
      heading: "A booking has a new time",
      lead: ({ client }) => `${client} has moved the booking below. It is confirmed.`,
    },
    booking_moved_pending: {
      subject: ({ client, service, when }) => `Moved, to confirm: ${client}, ${service}, ${when}`,
      heading: "A booking has a new time, to be confirmed",
      lead: ({ client }) =>
        `${client} has moved the booking below. The new time is kept until you confirm or decline it.`,
    },
    booking_cancelled_by_client: {
      subject: ({ client, service, when }) => `Cancelled: ${client}, ${service}, ${when}`,
      heading: "A booking has been cancelled",
      lead: ({ client }) => `${client} has cancelled the booking below. The time is free again.`,
    },
    booking_cancelled: {
      subject: ({ client, service, when }) => `Cancelled: ${client}, ${service}, ${when}`,
      heading: "A booking has been cancelled",
      lead: ({ client }) => `The booking below with ${client} no longer stands.`,
    },
    new_order: {
      subject: ({ number, client, total }) => `New order ${number}: ${client}, ${total}`,
      heading: "You have a new order",
      lead: ({ client, number }) => `${client} has placed order ${number}.`,
    },
    payment_received: {
      subject: ({ amount, client, number }) => `Payment of ${amount}: ${client}, order ${number}`,
      heading: "You have received a payment",
      lead: ({ client, amount, number }) => `${client} has paid ${amount} for order ${number}.`,
    },
    payment_returned: {
      subject: ({ amount, client, number }) =>
        `Payment of ${amount} goes back: ${client}, order ${number}`,
      heading: "A payment goes back",
      lead: ({ client, amount, number }) =>
        `${client} has paid ${amount} for order ${number}, but its time or stock was gone by then, or it was paid already. The money goes back by itself; there is nothing to do.`,
    },
    payment_refund_failed: {
      subject: ({ client, number }) => `A refund has failed: ${client}, order ${number}`,
      heading: "A refund has failed",
      lead: ({ client, amount, number }) =>
        `Of the payment of ${amount} by ${client} for order ${number}, money should have gone back by itself, but the payment provider did not do it. See what is left to give back in the order's payments.`,
    },
    client_undeliverable: {
      subject: ({ client }) => `Mails to ${client} do not arrive`,
      heading: "A client cannot be reached by mail",
      lead: ({ client, email }) =>
        `A mail to ${client} at ${email} could not be delivered, so no more are sent there. Ask for another address and change it in the client's details: mails then go out again.`,
    },
    confirm_address: {
      subject: ({ sender }) => `Confirm your address for ${sender}`,
      heading: "Confirm your address",
      lead: ({ email, sender }) =>
        `Confirm that ${email} is yours, and ${sender} can send your clients their confirmations, changes and reminders.`,
    },
    calendar_failing: {
      subject: ({ host }) => `Your calendar at ${host} cannot be read`,
      heading: "A calendar cannot be read",
      lead: () =>
        "For more than a day we could not read the calendar below. Times that it blocked stay blocked as they were, and what is new in it blocks nothing. See in your settings what is wrong, or remove the calendar and connect it again.",
    },
    calendar_disconnected: {
      subject: () => "Your Google calendar is no longer connected",
      heading: "Google calendar disconnected",
      lead: () =>
        "Google no longer lets us into your calendar: the access was taken away there, or it has run out. Bookings are not written to it any more, and times that it blocked stay blocked as they were. Connect it again in your settings, or disconnect it there to free these times.",
    },
  },

  labels: {
    service: "What",
    with: "With",
    when: "When",
    where: "Where",
    price: "Price",
    client: "Client",
    email: "E-mail",
    phone: "Phone",
    notes: "Notes",
    reason: "Reason",
    instructions: "Good to know",
    subtotal: "Subtotal",
    discount: "Discount",
    tax: "Tax",
    tax_included: "Of which tax",
    total: "Total",
    amount: "Amount",
    method: "Paid by",
    paid: "Paid",
    refunded: "Refunded",
    due: "Still to pay",
    delivery: "Deliver to",
    calendar: "Calendar",
    failing_since: "Since",
  },

  greeting: (name) => `Hello ${name},`,
  greeting_without_name: "Hello,",

  change_it: "Plans changed? You can move or cancel it yourself.",
  change_it_until: (moment) => `Plans changed? You can move or cancel it yourself until ${moment}.`,
  change_button: "Change or cancel",
  confirm_booking_button: "Confirm the booking",
  confirm_order_button: "Confirm the order",
  confirm_address_button: "Confirm the address",

  questions_reply: (professional) =>
    `Questions? Reply to this mail and ${professional} will read it.`,
  questions_reply_or_call: (professional, phone) =>
    `Questions? Reply to this mail and ${professional} will read it, or call ${phone}.`,
  questions_call: (professional, phone) =>
    `Questions? Call ${professional}: ${phone}. Replies to this mail are not read.`,
  questions_none: "Replies to this mail are not read.",

  not_you:
    "This mail came because your address was entered. If that was not you, you can ignore it.",
  not_you_to_confirm: "If you did not ask for this, ignore this mail and nothing will happen.",
  unsubscribe: "No more reminders",
  sent_by: (sender, professional) => `Sent by ${sender} for ${professional}.`,

  calendar_title: ({ service, professional }) => `${service} with ${professional}`,
};
