/** What is an e-mail address and what is not: for everything here that parses one. */

const chars = (count: number) => "a".repeat(count);
/** A domain of labels as long as they may be. */
const domain = (length: number) => {
  const labels = [chars(63), chars(63), chars(length - 2 * 64 - 4), "com"];
  return labels.join(".");
};

export const ADDRESSES = [
  "a@b.c",
  "marta@example.com",
  "Marta.Rossi+tag@Mail.Example.COM",
  "o'hara+tag_{x}=!#$%&*/?^`|~-1@example.com",
  "1@2.example",
  "a@b--c.example",
  "a@x-1.c0m",
  "kunde@xn--mnchen-3ya.example",
  "a@example.xn--p1ai",
  `${chars(64)}@example.com`,
  `a@${chars(63)}.com`,
  `${chars(64)}@${domain(189)}`,
];

export const NO_ADDRESSES = [
  "a",
  "a@b",
  "@b.c",
  "a@",
  "a@.c",
  "a@b.",
  "a@b.c.",
  "a@@b.c",
  "a@b@c.d",
  // Dots and hyphens where they join nothing.
  "a@x..com",
  "a@-x.com",
  "a@x-.com",
  "a@x.-com",
  "a@x.com-",
  "a@x_y.com",
  ".a@b.c",
  "a.@b.c",
  "a..b@b.c",
  // Addresses of machines.
  "a@[127.0.0.1]",
  "a@127.0.0.1",
  "a@[IPv6:::1]",
  "a@b.1c",
  // What a header or a list would read otherwise.
  "a b@c.d",
  "a@b.c, d@e.f",
  "a@b.c;d@e.f",
  "<a@b.c>",
  "Marta <a@b.c>",
  '"a"@b.c',
  "(a)@b.c",
  "a\\@b.c",
  "a:b@c.d",
  "a@b.c\nBcc: d@e.f",
  "a\u0001@b.c",
  "a\u007f@b.c",
  // What cannot be seen.
  "a\u00a0b@c.d",
  "a\u200bb@c.d",
  "ab@c\u00ad.d",
  // Letters that are not ASCII: dotted capital I, long s and the Kelvin sign fold into it.
  "victim@gma\u0130l.example",
  "victim@gma\u0131l.example",
  "\u212aate@example.com",
  "\u017fam@example.com",
  "marta@m\u00fcnchen.example",
  "jos\u00e9@example.com",
  "\u7528\u6237@\u4f8b\u5b50.\u516c\u53f8",
  "a@b\uff0ec",
  "a@b\u3002c",
  // One character too many.
  `${chars(65)}@example.com`,
  `a@${chars(64)}.com`,
  `a@x.${chars(64)}`,
  `${chars(64)}@${domain(190)}`,
];
