/** Functions for templates of stages that access the simulation, with kwok's names. */
import type { Pod } from '../../client/kinds.ts'
import type { NodeAgent } from '../nodes/agent.ts'
import { conditionsOf } from '../nodes/failures.ts'
import { type Functions, plainFunctions } from './go-template/functions.ts'

export function nodeFunctions(agent: NodeAgent, now: () => number): Functions {
  const nodeIP = (): string => agent.address
  const time = (): string => new Date(now()).toISOString()
  return {
    ...plainFunctions,
    Now: time,
    now: time,
    NodeIP: nodeIP,
    NodeIPWith: nodeIP,
    NodeName: () => agent.name,
    NodePort: () => agent.node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0,
    Version: () => agent.node.status?.nodeInfo?.kubeletVersion ?? '',
    // Those of a healthy node: failures are up to the stages.
    NodeConditions: () => conditionsOf([], undefined, true, now()),
    uuidv4: () => agent.node.metadata.uid,
  }
}

export function podFunctions(
  { metadata }: Pod,
  agent: NodeAgent,
  podIPs: () => readonly string[],
  now: () => number,
): Functions {
  const podIP = (_node?: unknown, hostNetwork?: unknown): string =>
    hostNetwork === true ? agent.address : (podIPs()[0] ?? '')
  return { ...nodeFunctions(agent, now), PodIP: podIP, PodIPWith: podIP, uuidv4: () => metadata.uid }
}
