/** What the manager knows of a controller before it makes it: its names, its account, its flags. */
import type { FeatureGates } from '../api/features/feature-gates.ts'
import type { Controller } from '../client/controller/controller.ts'
import type { Resource } from '../client/resource.ts'
import type { MetricsRegistry } from '../lib/metrics/registry.ts'
import type { CertificateSigner } from './certificates/signing-request.ts'
import type { ControllerFlag, FlagValues } from './flags.ts'

/** What controllers need beside the API. */
export interface ControllerSources {
  /** PEM bundle that pods check the server by. */
  readonly rootCA: string
  readonly signer: CertificateSigner
  /** Signs the claims of a service account's token; undefined where the key is not known. */
  readonly signToken?: (claims: Readonly<Record<string, unknown>>) => Promise<string>
}

/** What a controller is made with. */
export interface ControllerSurroundings extends ControllerSources {
  readonly features: FeatureGates
}

export interface ControllerDescriptor {
  /** Upstream's, as `--controllers` takes it. */
  readonly name: string
  /** Names that it had once, which `--controllers` takes too. */
  readonly aliases?: readonly string[]
  /** What upstream calls its queue, in metrics (`workqueue_*`); its name unless said. */
  readonly queue?: string
  /**
   * The service account of kube-system that upstream's role for it is bound to; the manager itself where there is none.
   */
  readonly account?: string
  /** Runs only where it is named: `*` does not mean it. */
  readonly onlyIfNamed?: boolean
  readonly flags?: readonly ControllerFlag[]
  /** Why it does not run with these sources and flags; undefined where it does. */
  lacks?(sources: ControllerSources, flags: FlagValues): string | undefined
  /** Kinds that it is about and that not every server has: where one is missing, it does not run. */
  readonly requires?: readonly Resource[]
  /**
   * A controller with a state of its own. Its code is loaded here: who does not run it does not pay for it. `registry`
   * is where it counts what it does, beside what is counted of all queues.
   */
  make(sources: ControllerSurroundings, flags: FlagValues, registry: MetricsRegistry): Controller | Promise<Controller>
}
