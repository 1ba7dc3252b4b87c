/** Amounts as decimal texts, never as floats, in the form that a language gives them. */

/** Minor units as in `private.currencies`; what is not listed has two. `Intl` rounds some to none. */
const WITHOUT_DECIMALS = new Set(
  "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF".split(" "),
);
const WITH_THREE_DECIMALS = new Set("BHD IQD JOD KWD LYD OMR TND".split(" "));

export function minorUnits(currency: string): number {
  if (WITHOUT_DECIMALS.has(currency)) return 0;
  return WITH_THREE_DECIMALS.has(currency) ? 3 : 2;
}

/** An amount in thousandths, to compute with. */
export function thousandths(amount: string): bigint {
  const [whole = "0", fraction = ""] = amount.split(".");
  return BigInt(whole + fraction.padEnd(3, "0").slice(0, 3));
}

/** The amount that so many thousandths, at least none, are. */
export function fromThousandths(units: bigint): string {
  const digits = String(units).padStart(4, "0");
  return `${digits.slice(0, -3)}.${digits.slice(-3)}`;
}

/** Made once for a language and currency, of which there are few: making one takes long. */
const formats = new Map<string, Intl.NumberFormat>();

export function money(locale: string, amount: string, currency: string): string {
  const key = `${locale} ${currency}`;
  const format = formats.get(key) ?? currencyFormat(locale, currency);
  formats.set(key, format);
  return format.format(amount as `${number}`);
}

function currencyFormat(locale: string, currency: string): Intl.NumberFormat {
  const digits = minorUnits(currency);
  return new Intl.NumberFormat(locale, {
    style: "currency",
    currency,
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}
