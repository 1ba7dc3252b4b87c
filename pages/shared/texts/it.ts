import type { SharedTexts } from "./en.ts";

export const it: SharedTexts = {
  loading: "Un momento …",
  tryAgain: "Riprova",
  optional: "facoltativo",
  otherLanguage: "Lingua",
  free: "gratis",
  minutes: (minutes) => {
    const hours = Math.floor(minutes / 60);
    const rest = minutes % 60;
    return [hours && `${hours} h`, rest && `${rest} min`].filter(Boolean).join(" ") || "0 min";
  },
  slots: {
    earlier: "Prima",
    later: "Dopo",
    chooseDay: "Scegli un giorno per vedere gli orari.",
    none: "Questo mese non c’è niente di libero.",
    search: "Cerca il prossimo giorno libero",
    noneAtAll: "Al momento non c’è niente di libero.",
    yourZone: (zone) => `Gli orari sono nel tuo fuso orario, ${zone}.`,
    theirZone: (zone, name) => `${name} lavora con l’orario di ${zone}.`,
    there: (time, zone) => `${time} a ${zone}`,
    when: "Quando",
    inZone: (zone) => `A ${zone}`,
    next: "I prossimi liberi sono:",
  },
  errors: {
    network: "Non c’è connessione. Quello che hai scritto è ancora qui: riprova.",
    busy: "Ci sono molte persone in questo momento. Riprova tra poco.",
    limit: (minutes) =>
      minutes > 1
        ? `Troppi tentativi. Riprova tra ${minutes} minuti.`
        : "Troppi tentativi. Riprova tra un minuto.",
    unknown: "Qualcosa è andato storto. Riprova.",
    fields: "Controlla i campi segnati.",
    codes: {
      slot_taken: "Qualcun altro ha appena preso questo orario.",
      not_accepting: "Al momento non si accettano prenotazioni né ordini.",
      inactive: "Questo servizio non è più offerto.",
      past: "Questo orario è passato.",
      too_soon: "Questo orario è ormai troppo vicino.",
      too_far: "Questo giorno è troppo lontano.",
      closed_date: "Questo giorno è chiuso.",
      outside_hours: "Questo orario è fuori dalle ore di lavoro.",
      not_on_grid: "Gli appuntamenti non iniziano a quest’ora.",
      too_late: "È troppo tardi per cambiarlo da qui.",
      too_many_open: "Ne hai già diversi in sospeso. Aspetta che uno sia concluso.",
      invalid_transition: "Nel frattempo è cambiato, e questo non è più possibile.",
      hold_expired: "Il tempo per cui era riservato è scaduto.",
      insufficient_stock: "Non ce ne sono più così tanti.",
      product_unavailable: "Questo non è più in vendita.",
      invalid_items: "Scrivi una quantità di almeno 1.",
      total_changed: "Il prezzo è cambiato. Ricontrollalo.",
      payments_unavailable: "Al momento qui non si può pagare.",
      amount_not_payable: "Questo importo non si può pagare online.",
      nothing_due: "È già pagato.",
      payments_not_configured: "Al momento qui non si può pagare.",
      payment_provider_unavailable: "La pagina di pagamento non risponde. Riprova.",
      invalid_link: "Questo link non apre più niente.",
      invalid_otp: "Questo codice non va bene. Chiedine uno nuovo e usa l’ultima mail.",
      session_not_found: "Sei uscito. Accedi di nuovo.",
      PGRST301: "Qui non c’è niente, o non c’è più.",
      PGRST303: "La sessione è scaduta. Accedi di nuovo.",
    },
    byField: {
      email: "Scrivi un indirizzo e-mail che si possa usare.",
      code: "Il codice ha sei cifre.",
      reason: "È troppo lungo: al massimo 1000 caratteri.",
      client_name: "Scrivi il tuo nome.",
      client_email: "Scrivi un indirizzo e-mail che si possa usare.",
      client_phone: "Questo numero di telefono non si può usare.",
      notes: "È troppo lungo: al massimo 4000 caratteri.",
    },
  },
};
