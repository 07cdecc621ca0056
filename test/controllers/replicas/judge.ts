/**
 * Watches a namespace's Deployment and records violations of its limits. Pods and ReplicaSets are watched
 * independently: desired replicas are read from the sets, available pods from the pods.
 */
import type { ServerAccess } from '../../../src/client/connection/connection.ts'
import { type Deployment, type Pod, pods, type ReplicaSet, replicaSets } from '../../../src/client/kinds.ts'
import { limitsOf } from '../../../src/controllers/replicas/deployments/sizes/sizes.ts'
import { Witness } from '../restarts/witness.ts'
import { isReady } from './workloads.ts'

export interface Limits {
  /** Maximum desired pods and minimum available pods. */
  readonly most: number
  readonly fewest: number
}

export function limitsOfPods(deployment: Deployment): Limits {
  const { maxSurge, maxUnavailable } = limitsOf(deployment)
  const replicas = deployment.spec?.replicas ?? 1
  return {
    most: replicas + maxSurge,
    fewest: deployment.spec?.strategy?.type === 'Recreate' ? 0 : replicas - maxUnavailable,
  }
}

export class Judge {
  readonly violations: string[] = []
  most = 0
  fewest = 0
  /** True if pods of two templates must not run together. */
  readonly #isRecreated: boolean
  readonly #witnesses: (Witness<Pod> | Witness<ReplicaSet>)[] = []

  private constructor(isRecreated: boolean) {
    this.#isRecreated = isRecreated
  }

  static async of(
    access: ServerAccess,
    namespace: string,
    { isRecreated }: { readonly isRecreated: boolean },
  ): Promise<Judge> {
    const judge = new Judge(isRecreated)
    judge.#witnesses.push(
      await Witness.of(access, pods, namespace, (name, pod, before) => judge.#judgePods(name, now(before, name, pod))),
      await Witness.of(access, replicaSets, namespace, (name, set, before) =>
        judge.#judgeSets(name, now(before, name, set)),
      ),
    )
    return judge
  }

  /**
   * Switches to other limits after all previous events were checked with the old ones.
   */
  async limit({ most, fewest }: Limits): Promise<void> {
    await Promise.all(this.#witnesses.map((witness) => witness.caughtUp()))
    this.most = most
    this.fewest = fewest
  }

  /** Uses the wider of both limits from now on. */
  widen({ most, fewest }: Limits): void {
    this.most = Math.max(this.most, most)
    this.fewest = Math.min(this.fewest, fewest)
  }

  async stop(): Promise<void> {
    await Promise.all(this.#witnesses.map((witness) => witness.stop()))
  }

  #judgeSets(at: string, sets: readonly ReplicaSet[]): void {
    const desired = sets.reduce((total, { spec }) => total + (spec?.replicas ?? 1), 0)
    const sizes = sets.map(({ metadata, spec }) => `${metadata.name}: ${spec?.replicas}`).join(', ')
    if (desired > this.most)
      this.violations.push(`${at}: ${desired} pods are desired, more than ${this.most} (${sizes})`)
  }

  #judgePods(at: string, all: readonly Pod[]): void {
    const running = all.filter(({ metadata, status }) => metadata.labels?.app === 'web' && status?.phase !== 'Failed')
    const available = running.filter((pod) => !pod.metadata.deletionTimestamp && isReady(pod))
    if (available.length < this.fewest)
      this.violations.push(`${at}: ${available.length} pods are available, fewer than ${this.fewest}`)
    const templates = new Set(running.map(({ metadata }) => metadata.labels?.['pod-template-hash']))
    if (this.#isRecreated && templates.size > 1) this.violations.push(`${at}: pods of ${templates.size} templates run`)
  }
}

/** All objects after a change. */
const now = <T>(before: ReadonlyMap<string, T>, name: string, object: T | undefined): readonly T[] => [
  ...[...before].flatMap(([other, unchanged]) => (other === name ? [] : [unchanged])),
  ...(object ? [object] : []),
]
