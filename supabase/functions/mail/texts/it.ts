import type { Texts } from "./texts.ts";

/** Says `tu`, and neither he nor she of a professional or a client. */
export const it: Texts = {
  locale: "it-IT",

  client: {
    booking_received: {
      subject: ({ service, professional, when }) =>
        `Richiesta ricevuta: ${service} con ${professional}, ${when}`,
      heading: "Abbiamo la tua richiesta",
      lead: ({ professional }) =>
        `Grazie per la prenotazione. ${professional} deve ancora confermare l'orario qui sotto: fino ad allora è una richiesta.`,
    },
    booking_confirmed: {
      subject: ({ service, professional, when }) =>
        `Confermata: ${service} con ${professional}, ${when}`,
      heading: "La tua prenotazione è confermata",
      lead: ({ professional }) =>
        `Il tuo appuntamento con ${professional} è fissato. Ecco quello che serve sapere.`,
    },
    booking_moved: {
      subject: ({ service, professional, when }) =>
        `Nuovo orario: ${service} con ${professional}, ${when}`,
      heading: "La tua prenotazione ha un nuovo orario",
      lead: ({ professional }) =>
        `Il tuo appuntamento con ${professional} è stato spostato ed è confermato come qui sotto. L'orario di prima non vale più.`,
    },
    booking_moved_pending: {
      subject: ({ service, professional, when }) =>
        `Da confermare: ${service} con ${professional}, ${when}`,
      heading: "Il nuovo orario non è ancora confermato",
      lead: ({ professional }) =>
        `La tua prenotazione è stata spostata e ${professional} deve ancora confermare il nuovo orario. Quello di prima non vale più, anche se il tuo calendario lo mostra ancora.`,
    },
    booking_cancelled_by_owner: {
      subject: ({ service, professional, when }) =>
        `Annullata: ${service} con ${professional}, ${when}`,
      heading: "La tua prenotazione è stata annullata",
      lead: ({ professional }) =>
        `${professional} ha dovuto annullare la prenotazione qui sotto. Ci dispiace per il cambio di programma.`,
    },
    booking_cancelled_by_client: {
      subject: ({ service, professional, when }) =>
        `Annullata: ${service} con ${professional}, ${when}`,
      heading: "La tua prenotazione è annullata",
      lead: ({ professional }) =>
        `Hai annullato la prenotazione qui sotto con ${professional}. Non c'è altro da fare.`,
    },
    booking_cancelled: {
      subject: ({ service, professional, when }) =>
        `Annullata: ${service} con ${professional}, ${when}`,
      heading: "La tua prenotazione è stata annullata",
      lead: ({ professional }) => `La prenotazione qui sotto con ${professional} non vale più.`,
    },
    booking_reminder: {
      subject: ({ service, professional, when }) =>
        `Promemoria: ${service} con ${professional}, ${when}`,
      heading: "Il tuo appuntamento si avvicina",
      lead: ({ professional }) => `Un breve promemoria del tuo appuntamento con ${professional}.`,
    },
    booking_to_confirm: {
      subject: ({ service, professional, when }) =>
        `Conferma: ${service} con ${professional}, ${when}`,
      heading: "Ancora un passo: conferma la prenotazione",
      lead: ({ professional }) =>
        `L'orario qui sotto con ${professional} è riservato per 30 minuti dalla tua richiesta. Confermalo qui sotto, altrimenti torna libero per altri.`,
    },
    order_received: {
      subject: ({ number, professional }) => `Ordine ${number} ricevuto da ${professional}`,
      heading: "Grazie per il tuo ordine",
      lead: ({ number, professional }) =>
        `${professional} ha ricevuto l'ordine ${number} e deve ancora confermarlo.`,
    },
    order_confirmed: {
      subject: ({ number, professional }) => `Ordine ${number} confermato da ${professional}`,
      heading: "Il tuo ordine è confermato",
      lead: ({ number, professional }) => `${professional} ha confermato l'ordine ${number}.`,
    },
    order_cancelled: {
      subject: ({ number, professional }) => `Ordine ${number} con ${professional} annullato`,
      heading: "Il tuo ordine è stato annullato",
      lead: ({ number, professional }) =>
        `L'ordine ${number} con ${professional} è stato annullato. Era questo.`,
    },
    order_to_confirm: {
      subject: ({ number, professional }) => `Conferma: ordine ${number} con ${professional}`,
      heading: "Ancora un passo: conferma l'ordine",
      lead: ({ number, professional }) =>
        `L'ordine ${number} con ${professional} è riservato per 30 minuti dall'invio. Confermalo qui sotto, altrimenti decade.`,
    },
    payment_received: {
      subject: ({ amount, number, professional }) =>
        `Pagamento di ${amount} ricevuto da ${professional}, ordine ${number}`,
      heading: "Il tuo pagamento è arrivato",
      lead: ({ amount, number, professional }) =>
        `Grazie. ${professional} ha ricevuto ${amount} per l'ordine ${number}.`,
    },
    payment_returned: {
      subject: ({ amount, number, professional }) =>
        `Il pagamento di ${amount} a ${professional} ti viene restituito, ordine ${number}`,
      heading: "Il tuo pagamento ti viene restituito",
      lead: ({ amount, number, professional }) =>
        `Il tuo pagamento di ${amount} per l'ordine ${number} con ${professional} è arrivato troppo tardi, oppure era già stato fatto. Ti viene restituito per intero e non devi fare nulla; la banca può impiegare qualche giorno.`,
    },
    payment_refunded: {
      subject: ({ amount, number, professional }) =>
        `Rimborso di ${amount} da ${professional}, ordine ${number}`,
      heading: "Hai ricevuto un rimborso",
      lead: ({ amount, number, professional }) =>
        `${professional} ti ha rimborsato ${amount} di quanto pagato per l'ordine ${number}.`,
    },
  },

  professional: {
    new_booking: {
      subject: ({ client, service, when }) => `Nuova prenotazione: ${client}, ${service}, ${when}`,
      heading: "Hai una nuova prenotazione",
      lead: ({ client, service }) => `${client} ha prenotato ${service}.`,
    },
    new_booking_pending: {
      subject: ({ client, service, when }) => `Da confermare: ${client}, ${service}, ${when}`,
      heading: "Una prenotazione ti aspetta",
      lead: ({ client, service }) =>
        `${client} vorrebbe prenotare ${service}. L'orario resta riservato finché non confermi o rifiuti.`,
    },
    booking_moved: {
      subject: ({ client, service, when }) => `Spostata: ${client}, ${service}, ${when}`,
      heading: "Una prenotazione ha un nuovo orario",
      lead: ({ client }) => `${client} ha spostato la prenotazione qui sotto. È confermata.`,
    },
    booking_moved_pending: {
      subject: ({ client, service, when }) =>
        `Spostata, da confermare: ${client}, ${service}, ${when}`,
      heading: "Una prenotazione ha un nuovo orario, da confermare",
      lead: ({ client }) =>
        `${client} ha spostato la prenotazione qui sotto. Il nuovo orario resta riservato finché non confermi o rifiuti.`,
    },
    booking_cancelled_by_client: {
      subject: ({ client, service, when }) => `Annullata: ${client}, ${service}, ${when}`,
      heading: "Una prenotazione è stata annullata",
      lead: ({ client }) =>
        `${client} ha annullato la prenotazione qui sotto. L'orario è di nuovo libero.`,
    },
    booking_cancelled: {
      subject: ({ client, service, when }) => `Annullata: ${client}, ${service}, ${when}`,
      heading: "Una prenotazione è stata annullata",
      lead: ({ client }) => `La prenotazione qui sotto con ${client} non vale più.`,
    },
    new_order: {
      subject: ({ number, client, total }) => `Nuovo ordine ${number}: ${client}, ${total}`,
      heading: "Hai un nuovo ordine",
      lead: ({ client, number }) => `${client} ha inviato l'ordine ${number}.`,
    },
    payment_received: {
      subject: ({ amount, client, number }) =>
        `Pagamento di ${amount}: ${client}, ordine ${number}`,
      heading: "Hai ricevuto un pagamento",
      lead: ({ client, amount, number }) => `${client} ha pagato ${amount} per l'ordine ${number}.`,
    },
    payment_returned: {
      subject: ({ amount, client, number }) =>
        `Pagamento restituito di ${amount}: ${client}, ordine ${number}`,
      heading: "Un pagamento viene restituito",
      lead: ({ client, amount, number }) =>
        `${client} ha pagato ${amount} per l'ordine ${number}, ma l'orario o la merce non erano più disponibili, oppure era già pagato. Il denaro viene restituito da solo e non devi fare nulla.`,
    },
    payment_refund_failed: {
      subject: ({ client, number }) => `Rimborso non riuscito: ${client}, ordine ${number}`,
      heading: "Un rimborso non è riuscito",
      lead: ({ client, amount, number }) =>
        `Del pagamento di ${amount} di ${client} per l'ordine ${number}, una somma doveva essere restituita da sola, ma il servizio di pagamento non l'ha fatto. Vedi nei pagamenti dell'ordine che cosa resta da restituire.`,
    },
    client_undeliverable: {
      subject: ({ client }) => `I messaggi a ${client} non arrivano`,
      heading: "Un contatto non è raggiungibile per e-mail",
      lead: ({ client, email }) =>
        `Non è stato possibile consegnare un messaggio a ${client} all'indirizzo ${email}, perciò non ne vengono inviati altri. Chiedi un altro indirizzo e cambialo nella scheda del contatto: gli invii riprendono.`,
    },
    confirm_address: {
      subject: ({ sender }) => `Conferma il tuo indirizzo per ${sender}`,
      heading: "Conferma il tuo indirizzo",
      lead: ({ email, sender }) =>
        `Conferma che ${email} è tuo: così ${sender} può inviare ai tuoi clienti conferme, modifiche e promemoria.`,
    },
    calendar_failing: {
      subject: ({ host }) => `Il tuo calendario su ${host} non si riesce a leggere`,
      heading: "Un calendario non si riesce a leggere",
      lead: () =>
        "Da più di un giorno non riusciamo a leggere il calendario qui sotto. Gli orari che bloccava restano bloccati com'erano, e quello che vi è stato aggiunto non blocca nulla. Guarda nelle impostazioni che cosa non va, oppure rimuovi il calendario e collegalo di nuovo.",
    },
    calendar_disconnected: {
      subject: () => "Il tuo calendario Google non è più collegato",
      heading: "Calendario Google scollegato",
      lead: () =>
        "Google non ci dà più accesso al tuo calendario: l'accesso è stato revocato lì oppure è scaduto. Le prenotazioni non vi vengono più scritte e gli orari che bloccava restano bloccati com'erano. Collegalo di nuovo nelle impostazioni, oppure scollegalo lì per liberare quegli orari.",
    },
  },

  labels: {
    service: "Cosa",
    with: "Con",
    when: "Quando",
    where: "Dove",
    price: "Prezzo",
    client: "Cliente",
    email: "E-mail",
    phone: "Telefono",
    notes: "Note",
    reason: "Motivo",
    instructions: "Da sapere",
    subtotal: "Subtotale",
    discount: "Sconto",
    tax: "Imposte",
    tax_included: "Di cui imposte",
    total: "Totale",
    amount: "Importo",
    method: "Pagato con",
    paid: "Pagato",
    refunded: "Rimborsato",
    due: "Ancora da pagare",
    delivery: "Consegna a",
    calendar: "Calendario",
    failing_since: "Dal",
  },

  greeting: (name) => `Ciao ${name},`,
  greeting_without_name: "Ciao,",

  change_it: "Cambio di programma? Puoi spostarla o annullarla da te.",
  change_it_until: (moment) =>
    `Cambio di programma? Puoi spostarla o annullarla da te fino a ${moment}.`,
  change_button: "Modifica o annulla",
  confirm_booking_button: "Conferma la prenotazione",
  confirm_order_button: "Conferma l'ordine",
  confirm_address_button: "Conferma l'indirizzo",

  questions_reply: (professional) =>
    `Domande? Rispondi a questo messaggio: lo leggerà ${professional}.`,
  questions_reply_or_call: (professional, phone) =>
    `Domande? Rispondi a questo messaggio, lo leggerà ${professional}, o chiama ${phone}.`,
  questions_call: (professional, phone) =>
    `Domande? Chiama ${professional}: ${phone}. Le risposte a questo messaggio non vengono lette.`,
  questions_none: "Le risposte a questo messaggio non vengono lette.",

  not_you:
    "Questo messaggio è arrivato perché è stato inserito il tuo indirizzo. Se non l'hai fatto tu, puoi ignorarlo.",
  not_you_to_confirm: "Se non l'hai chiesto tu, ignora questo messaggio e non succederà nulla.",
  unsubscribe: "Niente più promemoria",
  sent_by: (sender, professional) => `Inviato da ${sender} per ${professional}.`,

  calendar_title: ({ service, professional }) => `${service} con ${professional}`,
};
