/**
 * What is wrong with admission policies. No controller tells: expressions are checked against the schemas of the kinds
 * that the server has, so it does that itself, and writes the status of the policies
 * (`apiserver/admission/policies/policy-status.ts`).
 */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = []
