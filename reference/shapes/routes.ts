import type { z } from "zod";
export interface RouteShape { function: string; method: string; path: string; who: string; summary: string;
  body?: z.ZodType; query?: z.ZodType; answers: Record<number, z.ZodType | null>; errors: string[]; for: "professional"|"client"|"public"|"scheduler"|"provider" }
export const ROUTES: RouteShape[] = [];
