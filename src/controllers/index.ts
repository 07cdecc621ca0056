/** The controllers: loops that make the cluster match its API objects. They use only the API. */
export type {
  CertificateOptions as CertificateTerms,
  CertificateSigner,
  RequestedSubject,
} from './certificates/signing-request.ts'
export type { ControllerSources } from './descriptor.ts'
export { type ControllerPlan, managerUserAgent as managerAgent, planControllers, plannedClients } from './plan.ts'
export { type ControllerClients, type RunningControllers, runControllers } from './run.ts'
export {
  checkControllerFlags,
  controllerFlags,
  offByDefault,
  selectControllers as chosenControllers,
} from './select-controllers.ts'
