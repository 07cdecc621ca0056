/**
 * Converts flags of kube-apiserver to server options, one file per topic: for `t8s apiserver`, which takes all flags,
 * and for `t8s up`, which takes those besides its own.
 */
import { FeatureGates } from '../../api/features/feature-gates.ts'
import type { ServiceAccountIssuer } from '../../apiserver/authentication/service-accounts/index.ts'
import { featureSettings } from '../../apiserver/feature-gates/index.ts'
import type { ApiServerOptions } from '../../apiserver/server.ts'
import type { FlagValues } from '../../apiserver/serving-flags/index.ts'
import { ExplainedError } from '../../lib/explained-error.ts'
import { authenticationErrors, authenticationOptions } from './access/authentication.ts'
import { authorizationErrors, authorizationOptions } from './access/authorization.ts'
import { admissionErrors, admissionOptions } from './admission/admission.ts'
import { auditErrors, auditOptions } from './audit.ts'
import { encryptionOptions } from './encryption.ts'
import { etcdErrors } from './etcd.ts'
import type { FlagContext } from './flag-context.ts'
import { flowControlErrors, flowControlOptions } from './flow-control.ts'
import { kubeletOptions } from './kubelets.ts'
import { endpointOptions, servingErrors, servingProcess } from './listener/serving.ts'
import { transportErrors, transportOptions } from './listener/transport.ts'
import { storageFormatErrors, storageMediaType } from './storage-format.ts'

export { etcdOptions, otherEtcds } from './etcd.ts'
export { type FlagContext as FlagPlace, pathOf } from './flag-context.ts'

/** The issuer of tokens is completed with defaults later. */
export interface ServingOptions extends Omit<Partial<ApiServerOptions>, 'serviceAccount'> {
  readonly serviceAccount?: Partial<ServiceAccountIssuer>
}

/** Contains only what flags set. Throws an ExplainedError for files that cannot be read. */
export function servingOptions(context: FlagContext): ServingOptions {
  const { flags } = context
  const authorization = authorizationOptions(context)
  const encryption = encryptionOptions(context)
  const runtimeConfig = flags.map('runtime-config')
  const kubelets = kubeletOptions(context)
  const gates = flags.all('feature-gates')
  const requestTimeoutMs = flags.durationMs('request-timeout')
  const advertiseAddress = flags.text('advertise-address')
  const externalHostname = flags.text('external-hostname')
  const resourceMetrics = flags.bool('resource-metrics')
  const serviceNodePortRange = flags.text('service-node-port-range')
  return {
    ...authenticationOptions(context),
    ...(authorization && { authorization }),
    admission: admissionOptions(context),
    ...(encryption && { encryption }),
    storageMediaType: storageMediaType(flags),
    ...(kubelets && { kubelets }),
    ...(resourceMetrics !== undefined && { resourceMetrics }),
    flowControl: flowControlOptions(flags),
    audit: auditOptions(context),
    ...servingProcess(context),
    transport: transportOptions(context),
    ...(runtimeConfig && { runtimeConfig: [...runtimeConfig].map(([key, value]) => `${key}=${value || 'true'}`) }),
    ...(gates.length > 0 && { features: new FeatureGates(featureSettings(gates)) }),
    ...(requestTimeoutMs !== undefined && { requestTimeoutMs }),
    ...(advertiseAddress && { advertiseAddress }),
    ...(externalHostname && { externalHostname }),
    ...endpointOptions(flags),
    ...(flags.bool('profiling') === false && { profiling: false }),
    ...(serviceNodePortRange && { serviceNodePortRange }),
  }
}

/** Throws an ExplainedError with all of upstream's errors for invalid values. */
export function checkServingFlags(flags: FlagValues): void {
  const errors = [
    ...servingErrors(flags),
    ...etcdErrors(flags),
    ...transportErrors(flags),
    ...authenticationErrors(flags),
    ...authorizationErrors(flags),
    ...admissionErrors(flags),
    ...auditErrors(flags),
    ...flowControlErrors(flags),
    ...storageFormatErrors(flags),
  ]
  if (errors.length > 0) throw new ExplainedError(errors.length === 1 ? errors[0]! : `[${errors.join(', ')}]`)
}
