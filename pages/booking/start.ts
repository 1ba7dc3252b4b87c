/** The query of a page without a step. */
export const START = {
  service: null,
  day: null,
  start: null,
  product: null,
  variant: null,
  quantity: null,
  booking: null,
  order: null,
  payment: null,
};
