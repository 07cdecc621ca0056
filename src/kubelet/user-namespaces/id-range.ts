/** The range of the node's user and group IDs that pods with users of their own are mapped to (KEP-127). */
import { messageOf } from '../../lib/message-of.ts'
import type { RunProgram } from '../volumes/mounts/run-program.ts'

export interface IdRange {
  readonly first: number
  readonly length: number
}

/** The default number of IDs of a pod, and the unit of `userNamespaces.idsPerPod`. */
export const idsPerPodUnit = 65_536

const user = 'kubelet'
const allIds = 2 ** 32

/**
 * Resolves with the subordinate IDs of the user `kubelet`, as getsubids prints them; without that user or program with
 * all IDs from the first multiple of `idsPerPod` on. Rejects with upstream's message.
 */
export async function kubeletIdRange(
  idsPerPod: number,
  run: RunProgram,
  log: (line: string) => void,
): Promise<IdRange> {
  const usual = { first: idsPerPod, length: allIds - idsPerPod }
  const found = await outputOf(run, 'getent', ['passwd', user])
  if (found?.code !== 0) return usual
  const uids = await outputOf(run, 'getsubids', [user])
  if (!uids) {
    log(`the user ${user} exists, but not the program getsubids: pods with users of their own get the usual IDs`)
    return usual
  }
  if (uids.code !== 0) throw new Error(`error retrieving additional uids for user "${user}": exit status ${uids.code}`)
  const gids = await outputOf(run, 'getsubids', ['-g', user])
  if (gids?.code !== 0) throw new Error(`error retrieving additional gids for user "${user}"`)
  if (uids.output !== gids.output) throw new Error(`mismatched subuids and subgids for user "${user}"`)
  return parsedRange(uids.output)
}

/** Throws an Error with upstream's message if pods cannot be mapped to the range. */
export function checkIdRange({ first, length }: IdRange, idsPerPod: number, maxPods: number): void {
  if (idsPerPod % idsPerPodUnit !== 0)
    throw new Error(`kubelet user namespace length ${idsPerPod} is not a multiple of ${idsPerPodUnit}`)
  if (first % idsPerPod !== 0) throw new Error(`kubelet user assigned ID ${first} is not a multiple of ${idsPerPod}`)
  // Root of a pod must not be root of the node.
  if (first < idsPerPod) throw new Error(`kubelet user assigned ID ${first} must be greater or equal to ${idsPerPod}`)
  if (length % idsPerPod !== 0)
    throw new Error(`kubelet user assigned IDs length ${length} is not a multiple of ${idsPerPod}`)
  if (length / idsPerPod < maxPods)
    throw new Error(`kubelet user assigned IDs are not enough to support ${maxPods} pods`)
}

/** Undefined if there is no such program. */
const outputOf = async (run: RunProgram, program: string, args: readonly string[]) => {
  try {
    return await run(program, args)
  } catch (error) {
    if ((error as { readonly code?: unknown }).code === 'ENOENT') return undefined
    throw new Error(`cannot run ${program}: ${messageOf(error)}`)
  }
}

/** One line: `0: kubelet 65536 2147483648`. */
function parsedRange(output: string): IdRange {
  const quoted = JSON.stringify(output)
  const lines = output.replace(/^\n+|\n+$/g, '').split('\n')
  if (lines.length !== 1) throw new Error(`error parsing line ${quoted}: it must contain only one line`)
  const parts = lines[0]!.split(/\s+/).filter(Boolean)
  if (parts.length !== 4) throw new Error(`invalid line ${quoted}`)
  const [first, length] = parts.slice(2).map((part) => {
    const number = /^\d+$/.test(part) ? Number(part) : Number.NaN
    if (number < allIds) return number
    const fault = Number.isNaN(number) ? 'invalid syntax' : 'value out of range'
    throw new Error(`error parsing line ${quoted}: strconv.ParseUint: parsing ${JSON.stringify(part)}: ${fault}`)
  })
  return { first: first!, length: length! }
}
