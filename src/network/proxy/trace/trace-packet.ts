/** Follows a packet through this machine: the hooks before and after the translation of its destination. */
import type { IsLocal, Packet } from './conditions.ts'
import type { Hook, Ruleset } from './rules/ruleset.ts'
import { type HookPart, type Step, type Walk, type Way, walkHook } from './walk.ts'

/** Facts about this machine. */
export interface Machine {
  readonly isLocal: IsLocal
  /** The interface by which packets to the address leave. Undefined if unknown. */
  interfaceTo(address: string): string | undefined
}

/** One part of the packets after the translation. */
export interface Result {
  readonly way: Way
  /** Rules that it meets after the translation. */
  readonly steps: readonly Step[]
}

export interface PacketTrace {
  /** Rules before and at the translation. */
  readonly steps: readonly Step[]
  readonly results: readonly Result[]
}

const lowest = -1000
const highest = 1000
/** The kernel translates destinations at priority -100. */
const translation = -100

/** @param isFromNode true if this machine sends the packet */
export function tracePacket(
  rulesets: readonly Ruleset[],
  packet: Packet,
  isFromNode: boolean,
  machine: Machine,
): PacketTrace {
  const walk = (part: HookPart, at: Packet): Walk => walkHook(rulesets, part, at, machine.isLocal)
  const first: HookPart = isFromNode
    ? { hook: 'output', from: lowest, to: translation }
    : { hook: 'prerouting', from: lowest, to: highest }
  const { steps, ways } = walk(first, packet)
  return { steps, results: ways.flatMap((way) => followWay(way, isFromNode, machine, walk)) }
}

function followWay(
  start: Way,
  isFromNode: boolean,
  machine: Machine,
  walk: (part: HookPart, at: Packet) => Walk,
): Result[] {
  if (start.end !== 'continues') return [{ way: start, steps: [] }]
  const { destination } = start.packet
  const isForNode = machine.isLocal(destination)
  const hooks: readonly Hook[] = isFromNode
    ? ['output', 'postrouting']
    : isForNode
      ? ['input']
      : ['forward', 'postrouting']
  let results: Result[] = [
    { way: { ...start, packet: { ...start.packet, outInterface: machine.interfaceTo(destination) } }, steps: [] },
  ]
  for (const hook of hooks)
    results = results.flatMap((result) => {
      if (result.way.end !== 'continues') return [result]
      const from = hook === 'output' ? translation + 1 : lowest
      const { steps, ways } = walk({ hook, from, to: highest }, result.way.packet)
      return ways.map((way) => ({
        way: { ...way, probability: way.probability * result.way.probability },
        steps: [...result.steps, ...steps],
      }))
    })
  return results
}
