import type { PortalTexts } from "./en.ts";

export const it: PortalTexts = {
  title: "Le tue prenotazioni",
  titleWith: (name) => `Le tue prenotazioni con ${name}`,
  more: "Mostra altro",
  signIn: {
    heading: "Vedi le tue prenotazioni",
    lead: (name) => `Scrivi l'indirizzo e-mail che ${name} ha di te. Riceverai lì un codice.`,
    leadUnnamed: "Scrivi l'indirizzo e-mail con cui hai prenotato. Riceverai lì un codice.",
    email: "Indirizzo e-mail",
    emailMalformed: "Questo indirizzo e-mail non si può usare.",
    send: "Mandami un codice",
    codeHeading: "Scrivi il codice",
    codeLead: (email) =>
      `Se ${email} è di un cliente, un codice di sei cifre è in arrivo. Vale una volta sola, per dieci minuti; usa l'e-mail più recente.`,
    codeFromMail: "Il codice della tua e-mail è già inserito. Accedi per usarlo.",
    code: "Codice",
    codeHint: "Sei cifre",
    codeMalformed: "Il codice ha sei cifre.",
    verify: "Accedi",
    again: "Mandami un altro codice",
    sentAgain: "Un altro codice è in arrivo; quelli di prima non valgono più.",
    otherAddress: "Un altro indirizzo",
    wrongCode:
      "Questo codice non va bene. Può essere scritto male, già usato, più vecchio di dieci minuti o non dell'e-mail più recente.",
    nobody:
      "Questa pagina deve sapere di chi sei cliente. Aprila da un'e-mail che hai ricevuto o dalla pagina delle prenotazioni.",
    unknown:
      "Qui non c'è nessuno con questo nome che prenda prenotazioni o ordini. Apri questa pagina da un'e-mail che hai ricevuto.",
  },
  ended: {
    expired:
      "La tua ora qui è finita e l'accesso è stato chiuso. Niente di quello che hai fatto è perso. Accedi di nuovo per continuare.",
    elsewhere:
      "Questo accesso è finito: è stato chiuso in un'altra scheda, oppure il tuo indirizzo è cambiato. Accedi di nuovo per continuare.",
    link: "Quello che il link aveva aperto è di nuovo chiuso. Apri ancora il link dell'e-mail, oppure accedi con un codice.",
    signedOut: "Hai chiuso l'accesso.",
  },
  link: {
    manage: {
      heading: "La tua prenotazione",
      lead: "Il link della tua e-mail apre una prenotazione, che qui puoi spostare o annullare.",
      button: "Apri la prenotazione",
    },
    confirm: {
      heading: "Ancora un passo",
      lead: "Conferma qui quello che hai prenotato o ordinato. Fino ad allora è soltanto riservato per te.",
      button: "Conferma",
    },
    unsubscribe: {
      heading: "Niente più promemoria",
      lead: "Non riceverai più promemoria degli appuntamenti. Le altre e-mail su prenotazioni e ordini arrivano ancora.",
      button: "Ferma i promemoria",
      done: "Non riceverai più promemoria.",
    },
    "confirm-address": {
      heading: "Conferma il tuo indirizzo",
      lead: "Conferma che questo indirizzo è tuo. Le e-mail su prenotazioni e ordini potranno così andare ai tuoi clienti.",
      button: "Conferma l'indirizzo",
      done: "Il tuo indirizzo è confermato. Le e-mail ora vanno ai tuoi clienti.",
    },
    invalid:
      "Questo link non vale più. Può essere di un'e-mail più vecchia, di un altro indirizzo, o di qualcosa che è finito. Usa l'e-mail più recente, oppure accedi con un codice.",
    onward: "Alle tue prenotazioni",
  },
  confirmed: {
    booking: {
      heading: "La tua prenotazione è confermata",
      lead: "È in arrivo un'e-mail con tutti i dati e un link per cambiarla.",
    },
    request: {
      heading: "La tua richiesta è inviata",
      lead: "Deve ancora essere confermata. Riceverai un'e-mail.",
    },
    over: {
      heading: "La tua prenotazione",
      lead: "Avevi confermato questa prenotazione. Non è più aperta.",
    },
    order: {
      heading: "Il tuo ordine è inviato",
      lead: "È in arrivo un'e-mail con tutti i dati.",
    },
    slotTaken:
      "Troppo tardi: nel frattempo qualcun altro ha preso questo orario. Scegline un altro.",
    expired:
      "Troppo tardi: era riservato per mezz'ora, e ora non lo è più. Prenota o ordina di nuovo.",
    cancelled: "È stato annullato e non si può più confermare.",
  },
  nav: {
    label: "Che cosa vedere",
    upcoming: "In arrivo",
    past: "Passate",
    orders: "Ordini",
    me: "Nome e telefono",
    signOut: "Esci",
    signedInAs: "Accesso di",
  },
  bookings: {
    noneUpcoming: "Non hai prenotazioni in arrivo.",
    nonePast: "Non hai prenotazioni passate.",
    book: "Prenota un orario",
    status: {
      pending: "Da confermare",
      confirmed: "Confermata",
      cancelled: "Annullata",
      completed: "Avvenuta",
      no_show: "Mancata",
      hold: "Riservata per te",
    },
    pendingNote: (name) => `${name} deve ancora confermare questo orario. Riceverai un'e-mail.`,
    holdNote: (until) =>
      `Riservata per te fino alle ${until}. Apri il link dell'e-mail che ti abbiamo mandato per confermarla.`,
    holdPayNote: (until) =>
      `Riservata per te fino alle ${until}. Paga per prenotarla; senza pagamento torna libera per altri.`,
    holdPageNote:
      "Una pagina di pagamento può essere ancora aperta. Senza pagamento torna libera per altri.",
    cancelledBy: {
      owner: (name) => `Annullata da ${name}.`,
      client: () => "Annullata da te.",
      system: () => "Non è stata confermata o pagata in tempo.",
    },
    reason: "Motivo:",
    changeUntil: (until) => `Puoi spostarla o annullarla fino a ${until}.`,
    tooLate: (until) => `Si poteva spostare o annullare qui fino a ${until}.`,
    callNamed: (name) => `Se c'è un problema, contatta ${name}:`,
    callUnnamed: (name) => `Se c'è un problema, contatta direttamente ${name}.`,
    move: "Sposta",
    moveOf: (what) => `Sposta ${what}`,
    cancel: "Annulla la prenotazione",
    cancelOf: (what) => `Annulla la prenotazione: ${what}`,
    gone: "Questa prenotazione non c'è più.",
  },
  move: {
    heading: "Sposta la prenotazione",
    now: "Ora:",
    chosen: "Nuovo orario:",
    submit: "Sposta a questo orario",
    other: "Scegli un altro orario",
    back: "Tieni l'orario",
    done: "La tua prenotazione è spostata.",
    donePending: (name) =>
      `La tua prenotazione è spostata. ${name} deve ancora confermare il nuovo orario.`,
    pendingWarning: (name) =>
      `${name} deve confermare il nuovo orario. Quello di prima allora non vale più.`,
    next: "I prossimi orari liberi:",
    gone: "Questo servizio al momento non è offerto e la prenotazione non si può spostare qui.",
  },
  cancel: {
    heading: "Annulla la prenotazione",
    reason: (name) => `Motivo, che ${name} può leggere`,
    reasonTooLong: "È troppo lungo: al massimo 1000 caratteri.",
    submit: "Annulla questa prenotazione",
    back: "Tieni la prenotazione",
    money: "Quello che hai pagato online ti viene restituito.",
    done: "La tua prenotazione è annullata.",
  },
  orders: {
    none: "Non hai ordini.",
    number: (number) => `Ordine ${number}`,
    discount: "Sconto",
    tax: "Imposte",
    taxIncluded: "di cui imposte",
    total: "Totale",
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
    noOnline: (name) => `Non si può pagare online. Paga direttamente a ${name}.`,
    recording: "Grazie. Il pagamento si sta registrando …",
    recorded: "Il tuo pagamento è arrivato.",
    returned: "Il tuo pagamento è arrivato troppo tardi e ti viene restituito.",
    slow: "Il pagamento ci mette un po' di più. Riceverai un'e-mail; non pagare di nuovo.",
    notPaid: "Non hai pagato.",
  },
  me: {
    heading: "Nome e telefono",
    name: "Nome",
    nameWrong: "Scrivi il tuo nome, di al massimo 200 caratteri.",
    phone: "Telefono",
    phoneWrong: "Questo numero di telefono non si può usare.",
    emailNote: (name, email) =>
      `Il tuo indirizzo e-mail qui è ${email}. ${name} lo può cambiare per te.`,
    save: "Salva",
    saved: "Salvato.",
  },
};
