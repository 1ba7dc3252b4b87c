/** The stack under test, as the test runner (or you) put it into the environment. */

function required(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run the suite with npm test`);
  return value;
}

export const stack = {
  apiUrl: required("API_URL"),
  dbUrl: required("DB_URL"),
  mailUrl: required("MAILPIT_URL"),
  publishableKey: required("PUBLISHABLE_KEY"),
  secretKey: required("SECRET_KEY"),
  jwtSecret: required("JWT_SECRET"),
};
