/**
 * Empty: the API server checks the expressions of admission policies against its own schemas and writes their status
 * (`apiserver/admission/policies/policy-status.ts`), so no controller is needed.
 */
import type { ControllerDescriptor } from '../descriptor.ts'

export const controllers: readonly ControllerDescriptor[] = []
