/**
 * Runs objects of a kind through the stages of a file: a matching stage is executed after its delay; objects without a
 * matching stage have the default lifecycle.
 */
import type { EventType } from '../../client/events/event-recorder.ts'
import { type Node, nodes, type Pod, pods } from '../../client/kinds.ts'
import type { Resource } from '../../client/resource.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import type { KubeObject } from '../../machinery/object.ts'
import { StatusError } from '../../machinery/status-error.ts'
import { fromYaml } from '../../machinery/yaml.ts'
import type { KubeletEvents } from '../kubelet-events.ts'
import type { NodeStages } from '../nodes/node-runner.ts'
import type { PodStages } from '../pods/pod-runner.ts'
import type { Functions } from './go-template/functions.ts'
import { render } from './go-template/render.ts'
import { nodeFunctions, podFunctions } from './simulation-functions.ts'
import type { Stage, StageAction } from './stage.ts'

export interface StageRunnerOptions {
  readonly client: RestClient
  readonly events: KubeletEvents
  readonly stages: readonly Stage[]
  readonly log: (line: string) => void
  /** In ms since 1970. */
  readonly now: () => number
  readonly random?: () => number
}

/** The work in progress; `waiting` during a delay; undefined if no stage matches. */
export type Handled = Promise<void> | 'waiting' | undefined

/** The stages of pods. */
export function podStages(options: StageRunnerOptions): PodStages {
  const { events, now } = options
  const runner = new StageRunner<Pod>(options, pods, (pod, type, reason, message) =>
    events.ofPod(pod, type, reason, message),
  )
  return {
    handle: (pod, agent, podIPs, requeueAfter) =>
      runner.handle(pod, () => podFunctions(pod, agent, podIPs, now), requeueAfter),
    forget: (uid) => runner.forget(uid),
  }
}

/** The stages of nodes. */
export function nodeStages(options: StageRunnerOptions): NodeStages {
  const { events, now } = options
  const runner = new StageRunner<Node>(options, nodes, (node, type, reason, message) =>
    events.ofNode(node, type, reason, message),
  )
  return {
    handle: (agent, requeueAfter) => runner.handle(agent.node, () => nodeFunctions(agent, now), requeueAfter),
    forget: (uid) => runner.forget(uid),
  }
}

/** The stage that an object waits for, and all that matched. */
interface Waiting {
  readonly stage: Stage
  readonly matching: readonly Stage[]
  readonly at: number
}

class StageRunner<T extends KubeObject> {
  readonly #options: StageRunnerOptions
  readonly #resource: Resource<T>
  readonly #record: (object: T, type: EventType, reason: string, message: string) => void
  readonly #now: () => number
  readonly #random: () => number
  readonly #waiting = new Map<string, Waiting>()
  readonly #logged = new Set<string>()

  constructor(
    options: StageRunnerOptions,
    resource: Resource<T>,
    record: (object: T, type: EventType, reason: string, message: string) => void,
  ) {
    this.#options = options
    this.#resource = resource
    this.#record = record
    this.#now = options.now
    this.#random = options.random ?? Math.random
  }

  handle(object: T, functions: () => Functions, requeueAfter: (ms: number) => void): Handled {
    const uid = object.metadata.uid ?? ''
    const now = this.#now()
    const matching = this.#options.stages.filter((stage) => stage.matches(object))
    const known = this.#waiting.get(uid)
    // Changes of the object do not restart the delay, unless other stages match.
    const isSame =
      known && known.matching.length === matching.length && known.matching.every((stage, i) => stage === matching[i])
    const waiting = isSame ? known : this.#schedule(object, matching, now)
    if (!waiting) {
      this.#waiting.delete(uid)
      return undefined
    }
    if (waiting.at > now) {
      this.#waiting.set(uid, waiting)
      requeueAfter(waiting.at - now)
      return 'waiting'
    }
    this.#waiting.delete(uid)
    return this.#run(waiting.stage, object, functions())
  }

  forget(uid: string): void {
    this.#waiting.delete(uid)
  }

  #schedule(object: T, matching: readonly Stage[], now: number): Waiting | undefined {
    const stage = this.#choose(object, matching)
    return stage && { stage, matching, at: now + stage.delay(object, now, this.#random) }
  }

  /** Chooses one of the matching stages by weight; without weights all are equally likely. */
  #choose(object: T, matching: readonly Stage[]): Stage | undefined {
    if (matching.length < 2) return matching[0]
    const weights = matching.map((stage) => stage.weight(object))
    const whole = weights.reduce((sum, weight) => sum + weight, 0)
    if (whole === 0) return matching[Math.floor(this.#random() * matching.length)]
    let remaining = this.#random() * whole
    return matching.find((_, i) => (remaining -= weights[i]!) < 0) ?? matching.at(-1)
  }

  async #run({ name, actions }: Stage, object: T, functions: Functions): Promise<void> {
    for (const action of actions) {
      try {
        await this.#act(action, object, functions)
      } catch (error) {
        // An error in a template affects every object, so it is logged once.
        if (error instanceof StatusError) throw error
        if (!this.#logged.has(name))
          this.#options.log(`stage ${name} failed: ${error instanceof Error ? error.message : String(error)}`)
        this.#logged.add(name)
      }
    }
  }

  async #act(action: StageAction, object: T, functions: Functions): Promise<void> {
    const { client } = this.#options
    const { namespace = '', name = '', uid, finalizers = [] } = object.metadata
    switch (action.kind) {
      case 'event':
        this.#record(object, action.type, action.reason, render(action.message, object, functions))
        return
      case 'delete':
        await client.delete(this.#resource, namespace, name, { uid, gracePeriodSeconds: 0 })
        return
      case 'finalizers': {
        const kept = action.empty ? [] : finalizers.filter((finalizer) => !action.remove.includes(finalizer))
        const wanted = [...new Set([...kept, ...action.add])]
        await client.patch(
          this.#resource,
          namespace,
          name,
          { metadata: { uid, finalizers: wanted.length > 0 ? wanted : null } },
          'merge',
        )
        return
      }
      case 'patch': {
        const value = fromYaml(render(action.template, object, functions)) as object | undefined
        if (!value) return
        const { metadata, ...patch }: { readonly metadata?: object } = action.root ? { [action.root]: value } : value
        const body = action.type === 'json' ? value : { ...patch, metadata: { ...metadata, uid } }
        await client.patch(this.#resource, namespace, name, body, action.type, action.subresource)
        return
      }
      default:
        action satisfies never
    }
  }
}
