// Compiled beside what openapi-typescript and openapi-ts generate: the types
// that clients are written with have names, and both generators agree on them.
import type { components } from "./api";
import type { ApiError, Contact, ContactCreateInput, ContactsGetErrors, ContactsGetResponse } from "./client";

type Schemas = components["schemas"];

export const contact = (v: Schemas["Contact"]): Contact => v;
export const answer = (v: ContactsGetResponse): { data: Contact } => v;
export const input = (v: Schemas["ContactCreateInput"]): ContactCreateInput => v;
export const refusal = (v: Schemas["ApiError"]): ApiError => v;
export const missing = (v: ContactsGetErrors[404]): ApiError => v;
