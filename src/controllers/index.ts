/** The controllers: the loops that keep what the API promises. They know nothing but the API. */
export type { CertificateSigner, CertificateTerms, RequestedSubject } from './certificates/signing-request.ts'
export { checkControllerFlags, chosenControllers, controllerFlags, offByDefault } from './choice.ts'
export type { ControllerSources } from './descriptor.ts'
export { type ControllerPlan, managerAgent, planControllers, plannedClients } from './plan.ts'
export { type ControllerClients, type RunningControllers, runControllers } from './run.ts'
