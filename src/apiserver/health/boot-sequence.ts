/**
 * The progress of the start as health checks: one check per step, with the names of upstream's hooks, which operators
 * and their tools look for.
 */
import type { HealthCheck } from './health.ts'

/** The stages of a server's start. */
export type BootStage = 'access' | 'flowControl' | 'objects' | 'addedApis' | 'services'

/** In upstream's order. */
const steps: readonly (readonly [name: string, stage: BootStage])[] = [
  ['poststarthook/start-apiserver-admission-initializer', 'access'],
  ['poststarthook/generic-apiserver-start-informers', 'access'],
  ['poststarthook/priority-and-fairness-config-consumer', 'flowControl'],
  ['poststarthook/priority-and-fairness-filter', 'flowControl'],
  ['poststarthook/start-apiextensions-informers', 'addedApis'],
  ['poststarthook/start-apiextensions-controllers', 'addedApis'],
  ['poststarthook/crd-informer-synced', 'addedApis'],
  ['poststarthook/start-system-namespaces-controller', 'objects'],
  ['poststarthook/start-cluster-authentication-info-controller', 'addedApis'],
  ['poststarthook/start-legacy-token-tracking-controller', 'objects'],
  ['poststarthook/start-service-ip-repair-controllers', 'services'],
  ['poststarthook/rbac/bootstrap-roles', 'objects'],
  ['poststarthook/scheduling/bootstrap-system-priority-classes', 'objects'],
  ['poststarthook/priority-and-fairness-config-producer', 'flowControl'],
  ['poststarthook/bootstrap-controller', 'services'],
  ['poststarthook/start-kubernetes-service-cidr-controller', 'services'],
  ['poststarthook/start-kube-aggregator-informers', 'addedApis'],
  ['poststarthook/apiservice-status-local-available-controller', 'addedApis'],
  ['poststarthook/apiservice-status-remote-available-controller', 'addedApis'],
  ['poststarthook/apiservice-registration-controller', 'addedApis'],
  ['poststarthook/apiservice-discovery-controller', 'addedApis'],
  ['poststarthook/kube-apiserver-autoregistration', 'addedApis'],
  ['autoregister-completion', 'addedApis'],
  ['poststarthook/apiservice-openapi-controller', 'addedApis'],
  ['poststarthook/apiservice-openapiv3-controller', 'addedApis'],
]

export interface BootSequenceOptions {
  /** The time from now on in which `/livez` ignores unfinished steps, in ms. */
  readonly livezGraceMs?: number
  /** A monotonic clock in ms. */
  readonly now?: () => number
}

export class BootSequence {
  /** For `/healthz` and `/readyz`. */
  readonly checks: readonly HealthCheck[]
  /** For `/livez`. */
  readonly liveChecks: readonly HealthCheck[]
  readonly #finished = new Set<BootStage>()

  /** `stages`: those that this server has. */
  constructor(
    stages: readonly BootStage[],
    { livezGraceMs = 0, now = () => performance.now() }: BootSequenceOptions = {},
  ) {
    const own = steps.filter(([, stage]) => stages.includes(stage))
    const problem = (stage: BootStage): string | undefined => (this.#finished.has(stage) ? undefined : 'not finished')
    const strictFrom = now() + livezGraceMs
    this.checks = own.map(([name, stage]) => ({ name, check: () => problem(stage) }))
    this.liveChecks = own.map(([name, stage]) => ({
      name,
      check: () => (now() < strictFrom ? undefined : problem(stage)),
    }))
  }

  /** Resolves as `work` does; then the stage is finished. */
  async during<T>(stage: BootStage, work: Promise<T>): Promise<T> {
    const result = await work
    this.#finished.add(stage)
    return result
  }
}
