/** What this tab keeps, and no other: nothing of the portal outlives its tab. */
const key = (name: string) => `portal.${name}`;

export function recall<Value>(name: string): Value | null {
  return JSON.parse(sessionStorage.getItem(key(name)) ?? "null");
}

export const remember = (name: string, value: unknown): void =>
  sessionStorage.setItem(key(name), JSON.stringify(value));

export const forget = (name: string): void => sessionStorage.removeItem(key(name));
