/** Takes pods through the stages of a file: a stage that matches happens after its delay, and where none matches, a pod goes its usual way. */
import { type Pod, pods } from '../../client/kinds.ts'
import type { RestClient } from '../../client/rest/rest-client.ts'
import { fromYaml } from '../../machinery/yaml.ts'
import type { NodeAgent } from '../nodes/agent.ts'
import type { PodStages } from '../pods/pod-runner.ts'
import type { ToldEvents } from '../told-events.ts'
import { type Functions, plainFunctions } from './go-template/functions.ts'
import { render } from './go-template/render.ts'
import type { Stage, StageAction } from './stage.ts'

export interface StageRunnerOptions {
  readonly client: RestClient
  readonly events: ToldEvents
  readonly stages: readonly Stage[]
  readonly log: (line: string) => void
  readonly now?: () => number
  readonly random?: () => number
}

/** The stage that a pod waits for. */
interface Waiting {
  readonly stage: Stage
  readonly at: number
}

export class StageRunner implements PodStages {
  readonly #options: StageRunnerOptions
  readonly #now: () => number
  readonly #random: () => number
  readonly #waiting = new Map<string, Waiting>()
  readonly #told = new Set<string>()

  constructor(options: StageRunnerOptions) {
    this.#options = options
    this.#now = options.now ?? Date.now
    this.#random = options.random ?? Math.random
  }

  handle(pod: Pod, agent: NodeAgent, podIPs: () => readonly string[], again: (ms: number) => void): Promise<void> | 'waiting' | undefined {
    const uid = pod.metadata.uid ?? ''
    const now = this.#now()
    const before = this.#waiting.get(uid)
    // What happens to it in between does not begin the delay anew.
    const stage = before?.stage.matches(pod) ? before.stage : this.#choose(pod)
    if (!stage) {
      this.#waiting.delete(uid)
      return undefined
    }
    const waiting = before?.stage === stage ? before : { stage, at: now + stage.delay(pod, now, this.#random) }
    if (waiting.at > now) {
      this.#waiting.set(uid, waiting)
      again(waiting.at - now)
      return 'waiting'
    }
    this.#waiting.delete(uid)
    return this.#play(stage, pod, this.#functions(pod, agent, podIPs))
  }

  forget(uid: string): void {
    this.#waiting.delete(uid)
  }

  /** One of those that match, by their weights; where none has any, each as likely as the others. */
  #choose(pod: Pod): Stage | undefined {
    const matching = this.#options.stages.filter((stage) => stage.matches(pod))
    if (matching.length < 2) return matching[0]
    const weights = matching.map((stage) => stage.weight(pod))
    const whole = weights.reduce((sum, weight) => sum + weight, 0)
    if (whole === 0) return matching[Math.floor(this.#random() * matching.length)]
    let left = this.#random() * whole
    return matching.find((_, i) => (left -= weights[i]!) < 0) ?? matching.at(-1)
  }

  #functions({ metadata }: Pod, agent: NodeAgent, podIPs: () => readonly string[]): Functions {
    const nodeIP = (): string => agent.address
    const podIP = (_node?: unknown, hostNetwork?: unknown): string => (hostNetwork === true ? agent.address : (podIPs()[0] ?? ''))
    return {
      ...plainFunctions,
      Now: () => new Date(this.#now()).toISOString(),
      now: () => new Date(this.#now()).toISOString(),
      NodeIP: nodeIP,
      NodeIPWith: nodeIP,
      NodeName: () => agent.name,
      NodePort: () => agent.node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0,
      PodIP: podIP,
      PodIPWith: podIP,
      Version: () => agent.node.status?.nodeInfo?.kubeletVersion ?? '',
      NodeConditions: () => agent.node.status?.conditions ?? [],
      uuidv4: () => metadata.uid,
    }
  }

  async #play({ name, actions }: Stage, pod: Pod, functions: Functions): Promise<void> {
    for (const action of actions) {
      try {
        await this.#act(action, pod, functions)
      } catch (error) {
        // A template that is wrong is wrong for every pod: that is said once.
        if (error instanceof Error && error.name === 'StatusError') throw error
        if (!this.#told.has(name)) this.#options.log(`stage ${name} cannot be played: ${error instanceof Error ? error.message : String(error)}`)
        this.#told.add(name)
      }
    }
  }

  async #act(action: StageAction, pod: Pod, functions: Functions): Promise<void> {
    const { client, events } = this.#options
    const { namespace = '', name = '', uid, finalizers = [] } = pod.metadata
    switch (action.kind) {
      case 'event':
        events.ofPod(pod, action.type, action.reason, action.message)
        return
      case 'delete':
        await client.delete(pods, namespace, name, { uid, gracePeriodSeconds: 0 })
        return
      case 'finalizers': {
        const kept = action.empty ? [] : finalizers.filter((finalizer) => !action.remove.includes(finalizer))
        const wanted = [...new Set([...kept, ...action.add])]
        await client.patch(pods, namespace, name, { metadata: { uid, finalizers: wanted.length > 0 ? wanted : null } }, 'merge')
        return
      }
      case 'patch': {
        const value = fromYaml(render(action.template, pod, functions)) as object | undefined
        if (!value) return
        const patch = action.root ? { [action.root]: value } : value
        const body = action.type === 'json' ? value : { ...patch, metadata: { uid } }
        await client.patch(pods, namespace, name, body, action.type, action.subresource)
        return
      }
      default:
        action satisfies never
    }
  }
}
