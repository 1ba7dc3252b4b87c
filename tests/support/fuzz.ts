/**
 * What made-up input starts from: the same in every run, so that the suite says of a commit what it said
 * before. `FUZZ_SEED=$RANDOM npm test -- tests/rest-fuzz.test.ts` looks elsewhere.
 */
export const FUZZ = { seed: Number(process.env.FUZZ_SEED ?? 20_261_128) };
