import type { PortalTexts } from "./en.ts";

export const it: PortalTexts = {
  title: "Le tue prenotazioni",
  titleWith: (name) => `Le tue prenotazioni con ${name}`,
  signIn: {
    heading: "Vedi le tue prenotazioni",
    lead: (name) => `Scrivi l'indirizzo e-mail che ${name} ha di te. Riceverai lì un codice.`,
    leadUnnamed: "Scrivi l'indirizzo e-mail con cui hai prenotato. Riceverai lì un codice.",
    email: "Indirizzo e-mail",
    send: "Mandami un codice",
    codeHeading: "Scrivi il codice",
    codeLead: (email) =>
      `Se ${email} è di un cliente, un codice di sei cifre è in arrivo. Vale una volta sola, per dieci minuti; usa l'e-mail più recente.`,
    filledIn: "Il codice della tua e-mail è già inserito. Accedi per usarlo.",
    code: "Codice",
    codeHint: "Sei cifre",
    verify: "Accedi",
    again: "Chiedi un altro codice",
    nobody:
      "Questa pagina deve sapere di chi sei cliente. Aprila da un'e-mail che hai ricevuto o dalla pagina delle prenotazioni.",
    unknown:
      "Qui non c'è nessuno con questo nome che prenda prenotazioni o ordini. Apri questa pagina da un'e-mail che hai ricevuto.",
  },
  ended: {
    over: "L'accesso è stato chiuso: dopo un'ora, in un'altra scheda, o perché qualcosa è cambiato. Accedi di nuovo per continuare, o apri ancora il link dell'e-mail.",
    signedOut: "Hai chiuso l'accesso.",
  },
  link: {
    manage: {
      heading: "La tua prenotazione",
      lead: "Il link della tua e-mail apre una prenotazione, che qui puoi spostare o annullare.",
      button: "Apri la prenotazione",
      thanks: "",
    },
    confirm: {
      heading: "Ancora un passo",
      lead: "Conferma qui quello che hai prenotato o ordinato. Fino ad allora è soltanto riservato per te.",
      button: "Conferma",
      thanks: "",
    },
    unsubscribe: {
      heading: "Niente più promemoria",
      lead: "Non riceverai più promemoria degli appuntamenti. Le altre e-mail su prenotazioni e ordini arrivano ancora.",
      button: "Ferma i promemoria",
      thanks: "Non riceverai più promemoria.",
    },
    "confirm-address": {
      heading: "Conferma il tuo indirizzo",
      lead: "Conferma che questo indirizzo è tuo. Le e-mail su prenotazioni e ordini potranno così andare ai tuoi clienti.",
      button: "Conferma l'indirizzo",
      thanks: "Il tuo indirizzo è confermato. Le e-mail ora vanno ai tuoi clienti.",
    },
  },
  onward: "Alle tue prenotazioni",
  confirmed: {
    confirmed: {
      heading: "La tua prenotazione è confermata",
      thanks: "È in arrivo un'e-mail con tutti i dati e un link per cambiarla.",
    },
    pending: {
      heading: "La tua richiesta è inviata",
      thanks: "Deve ancora essere confermata. Riceverai un'e-mail.",
    },
    cancelled: {
      heading: "La tua prenotazione",
      thanks: "Avevi confermato questa prenotazione. Non è più aperta.",
    },
    completed: {
      heading: "La tua prenotazione",
      thanks: "Avevi confermato questa prenotazione. Non è più aperta.",
    },
    no_show: {
      heading: "La tua prenotazione",
      thanks: "Avevi confermato questa prenotazione. Non è più aperta.",
    },
    order: {
      heading: "Il tuo ordine è inviato",
      thanks: "È in arrivo un'e-mail con tutti i dati.",
    },
  },
  /** Why a link does nothing, by the code of the refusal. */
  refused: {
    invalid_link:
      "Questo link non vale più. Può essere di un'e-mail più vecchia, di un altro indirizzo, o di qualcosa che è finito. Usa l'e-mail più recente, oppure accedi con un codice.",
    slot_taken:
      "Troppo tardi: nel frattempo qualcun altro ha preso questo orario. Scegline un altro.",
    hold_expired:
      "Troppo tardi: era riservato per mezz'ora, e ora non lo è più. Prenota o ordina di nuovo.",
    invalid_transition: "È stato annullato e non si può più confermare.",
  },
  nav: {
    label: "Che cosa vedere",
    upcoming: "In arrivo",
    past: "Passate",
    orders: "Ordini",
    signOut: "Esci",
  },
  bookings: {
    none: {
      upcoming: "Non hai prenotazioni in arrivo.",
      past: "Non hai prenotazioni passate.",
      one: "Questa prenotazione non c'è più.",
    },
    book: "Prenota un orario",
    status: {
      pending: "Da confermare",
      confirmed: "Confermata",
      cancelled: "Annullata",
      completed: "Avvenuta",
      no_show: "Mancata",
      hold: "Riservata per te",
    },
    pending: (name) => `${name} deve ancora confermare questo orario. Riceverai un'e-mail.`,
    holdNote: (until) =>
      `Riservata per te fino alle ${until}. Apri il link dell'e-mail che ti abbiamo mandato per confermarla.`,
    holdPayNote: (until) =>
      `Riservata per te fino alle ${until}. Paga per prenotarla; senza pagamento torna libera per altri.`,
    cancelled: "Annullata",
    cancelledBy: {
      owner: (name) => `da ${name}`,
      client: () => "da te",
      system: () => "non confermata o pagata in tempo",
    },
    reason: "Motivo",
    price: "Prezzo",
    changeUntil: "Puoi spostarla o annullarla fino a",
    tooLate: "Si poteva spostare o annullare qui fino a",
    contact: (name) => `Se c'è un problema, contatta direttamente ${name}.`,
    move: "Sposta",
    cancel: "Annulla la prenotazione",
  },
  move: {
    heading: "Sposta la prenotazione",
    chosen: "Nuovo orario:",
    submit: "Sposta a questo orario",
    other: "Scegli un altro orario",
    back: "Tieni l'orario",
    done: "La tua prenotazione è spostata.",
    donePending: (name) =>
      `La tua prenotazione è spostata. ${name} deve ancora confermare il nuovo orario.`,
    pendingWarning: (name) =>
      `${name} deve confermare il nuovo orario. Quello di prima allora non vale più.`,
    gone: "Questo servizio al momento non è offerto e la prenotazione non si può spostare qui.",
  },
  cancel: {
    heading: "Annulla la prenotazione",
    reason: (name) => `Motivo, che ${name} può leggere`,
    submit: "Annulla questa prenotazione",
    back: "Tieni la prenotazione",
    money: "Quello che hai pagato online ti viene restituito.",
    done: "La tua prenotazione è annullata.",
  },
  orders: {
    none: "Non hai ordini.",
    number: (number) => `Ordine ${number}`,
    discount: "Sconto",
    total: "Totale",
    tax: "di cui imposte",
    paid: "Pagato",
    refunded: "Restituito",
    status: {
      pending: "Ricevuto",
      confirmed: "Confermato",
      fulfilled: "Concluso",
      cancelled: "Annullato",
      hold: "Riservato per te",
    },
    payment: {
      unpaid: "Non pagato",
      partially_paid: "Pagato in parte",
      paid: "Pagato",
      partially_refunded: "Restituito in parte",
      refunded: "Restituito",
    },
    pay: (amount) => `Paga ${amount}`,
    holdNote: (until) =>
      `Riservato per te fino alle ${until}. Senza pagamento o conferma viene annullato.`,
    hasPaid: "Grazie. Il pagamento appare qui appena è arrivato.",
    notPaid: "Non hai pagato.",
  },
};
