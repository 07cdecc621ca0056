/** Describes a controller before it is created: its names, its service account, its flags. */
import type { FeatureGates } from '../api/features/feature-gates.ts'
import type { Controller } from '../client/controller/controller.ts'
import type { Resource } from '../client/resource.ts'
import type { Clock } from '../lib/clock/clock.ts'
import type { MetricsRegistry } from '../lib/metrics/registry.ts'
import type { CertificateSigner } from './certificates/signing-request.ts'
import type { ControllerFlag, FlagValues } from './flags.ts'

/** Inputs of controllers besides the API. */
export interface ControllerSources {
  /** PEM bundle by which pods verify the server. */
  readonly rootCA: string
  readonly signer: CertificateSigner
  /** Signs the claims of a service account's token; undefined if the key is not known. */
  readonly signToken?: (claims: Readonly<Record<string, unknown>>) => Promise<string>
}

/** The arguments with which a controller is created. */
export interface ControllerEnvironment extends ControllerSources {
  readonly features: FeatureGates
  /** The time of the cluster. */
  readonly clock: Clock
}

export interface ControllerDescriptor {
  /** Upstream's name, as used with `--controllers`. */
  readonly name: string
  /** Former names, which `--controllers` accepts too. */
  readonly aliases?: readonly string[]
  /** Upstream's name of its queue in metrics (`workqueue_*`). Default: the controller's name. */
  readonly queue?: string
  /** The service account in kube-system that upstream binds its role to. Default: the manager's own user. */
  readonly account?: string
  /** True if it runs only when `--controllers` names it: `*` does not include it. */
  readonly isOffByDefault?: boolean
  readonly flags?: readonly ControllerFlag[]
  /** The reason why it cannot run with these sources and flags; undefined if it can. */
  missingRequirement?(sources: ControllerSources, flags: FlagValues): string | undefined
  /** Optional kinds that it works on. If the server does not serve all of them, the controller does not run. */
  readonly requires?: readonly Resource[]
  /**
   * Creates a controller with a state of its own. Its code is imported here, so that a controller that does not run
   * costs nothing. `registry` holds its own metrics; those of the work queues are added separately.
   */
  make(sources: ControllerEnvironment, flags: FlagValues, registry: MetricsRegistry): Controller | Promise<Controller>
}
