/** The filter of system calls for a seccomp profile. Programs of other architectures than the machine's are killed. */
import { constants } from 'node:os'
import type { OciSeccomp, OciSyscallArgument, OciSyscallRule } from '../../../spec/oci-spec.ts'
import { filterNumbers } from './call-numbers.ts'
import { FilterWriter } from './filter-writer.ts'

/** The kernel's names of architectures. */
const architectures: Readonly<Record<string, number>> = { x64: 0xc000_003e, arm64: 0xc000_00b7 }

/** Offsets in the description of a call. */
const numberOffset = 0
const architectureOffset = 4
const argumentsOffset = 16
const argumentBytes = 8

/** Calls of the x32 variant of x86-64 begin here. */
const x32 = 0x4000_0000

const killProcess = 0x8000_0000
const errorAction = 0x5_0000

const actions: Readonly<Record<string, number>> = {
  SCMP_ACT_KILL: 0,
  SCMP_ACT_KILL_THREAD: 0,
  SCMP_ACT_KILL_PROCESS: killProcess,
  SCMP_ACT_TRAP: 0x3_0000,
  SCMP_ACT_ERRNO: errorAction,
  SCMP_ACT_TRACE: 0x7ff0_0000,
  SCMP_ACT_LOG: 0x7ffc_0000,
  SCMP_ACT_ALLOW: 0x7fff_0000,
}

/** Flags of the call `seccomp`. */
const flagNames: Readonly<Record<string, number>> = {
  SECCOMP_FILTER_FLAG_TSYNC: 1,
  SECCOMP_FILTER_FLAG_LOG: 2,
  SECCOMP_FILTER_FLAG_SPEC_ALLOW: 4,
}

interface Condition {
  readonly args: readonly OciSyscallArgument[]
  readonly result: number
}

/** Throws an Error for a profile that needs more than filters. */
export function seccompFilter(profile: OciSeccomp, architecture: string = process.arch): Buffer {
  const numbers = filterNumbers[architecture] ?? new Map<string, number>()
  const fallback = resultOf(profile.defaultAction, profile.defaultErrnoRet)
  const always = new Map<number, number>()
  const conditional = new Map<number, Condition[]>()
  for (const rule of profile.syscalls ?? [])
    for (const name of rule.names) {
      const number = numbers.get(name)
      if (number !== undefined) addRule(rule, number, always, conditional)
    }
  const writer = new FilterWriter()
  writer.load(architectureOffset)
  writer.compare('equal', architectures[architecture] ?? 0, 'own', undefined)
  writer.return(killProcess)
  writer.label('own')
  writer.load(numberOffset)
  if (architecture === 'x64') {
    writer.compare('notLess', x32, undefined, 'number')
    writer.return(errorAction | constants.errno.ENOSYS)
    writer.label('number')
  }
  writeRanges(writer, always)
  for (const [number, conditions] of conditional)
    if (!always.has(number)) writeCall(writer, number, conditions, fallback)
  writer.return(fallback)
  return writer.write()
}

export const seccompFlags = ({ flags = [] }: OciSeccomp): number =>
  flags.reduce((sum, name) => sum | (flagNames[name] ?? 0), 0)

function resultOf(action: string, error = constants.errno.EPERM as number): number {
  const result = Object.hasOwn(actions, action) ? actions[action] : undefined
  if (result === undefined)
    throw new Error(`the seccomp action ${action} needs crun or runc: install one of them, or change the profile`)
  const hasNumber = action === 'SCMP_ACT_ERRNO' || action === 'SCMP_ACT_TRACE'
  return hasNumber ? (result | error) >>> 0 : result
}

/** The first rule without conditions wins. */
function addRule(
  { action, errnoRet, args = [] }: OciSyscallRule,
  number: number,
  always: Map<number, number>,
  conditional: Map<number, Condition[]>,
): void {
  const result = resultOf(action, errnoRet)
  if (args.length === 0) {
    if (!always.has(number)) always.set(number, result)
    return
  }
  // As runc: several conditions of one argument are alternatives.
  const isAlternative = new Set(args.map(({ index }) => index)).size < args.length
  const rules = isAlternative ? args.map((one) => [one]) : [args]
  conditional.set(number, [...(conditional.get(number) ?? []), ...rules.map((one) => ({ args: one, result }))])
}

/** Consecutive calls with the same result are compared together. */
function writeRanges(writer: FilterWriter, always: ReadonlyMap<number, number>): void {
  const sorted = [...always].sort(([a], [b]) => a - b)
  for (let start = 0; start < sorted.length; ) {
    const [first, result] = sorted[start]!
    let end = start + 1
    while (sorted[end]?.[0] === first + end - start && sorted[end]?.[1] === result) end++
    const after = `after ${first}`
    writer.compare('notLess', first, undefined, after)
    writer.compare('greater', first + end - start - 1, after, undefined)
    writer.return(result)
    writer.label(after)
    start = end
  }
}

function writeCall(writer: FilterWriter, number: number, conditions: readonly Condition[], fallback: number): void {
  const [body, after] = [`call ${number}`, `after ${number}`]
  writer.compare('equal', number, body, undefined)
  writer.jump(after)
  writer.label(body)
  conditions.forEach(({ args, result }, index) => {
    const next = `rule ${number} ${index}`
    for (const [position, argument] of args.entries()) writeCondition(writer, argument, `${next} ${position}`, next)
    writer.return(result)
    writer.label(next)
  })
  writer.return(fallback)
  writer.label(after)
}

const upperHalf = (value: bigint): number => Number((value >> 32n) & 0xffff_ffffn)
const lowerHalf = (value: bigint): number => Number(value & 0xffff_ffffn)

/** Goes on behind if the argument fits, at `otherwise` if not. `name` is unique. */
function writeCondition(
  writer: FilterWriter,
  { index, value, valueTwo = 0, op }: OciSyscallArgument,
  name: string,
  otherwise: string,
): void {
  const offset = argumentsOffset + index * argumentBytes
  const matches = `${name} matches`
  const compare = (comparison: 'equal' | 'greater' | 'notLess', yes: string, no: string, wanted: bigint): void => {
    const mask = op === 'SCMP_CMP_MASKED_EQ' ? BigInt(value) : undefined
    writer.load(offset + 4)
    if (mask !== undefined) writer.and(upperHalf(mask))
    if (comparison !== 'equal') writer.compare('greater', upperHalf(wanted), yes, undefined)
    writer.compare('equal', upperHalf(wanted), undefined, no)
    writer.load(offset)
    if (mask !== undefined) writer.and(lowerHalf(mask))
    writer.compare(comparison, lowerHalf(wanted), yes, no)
  }
  const wanted = BigInt(value)
  switch (op) {
    case 'SCMP_CMP_EQ':
      compare('equal', matches, otherwise, wanted)
      break
    case 'SCMP_CMP_NE':
      compare('equal', otherwise, matches, wanted)
      break
    case 'SCMP_CMP_GT':
      compare('greater', matches, otherwise, wanted)
      break
    case 'SCMP_CMP_LE':
      compare('greater', otherwise, matches, wanted)
      break
    case 'SCMP_CMP_GE':
      compare('notLess', matches, otherwise, wanted)
      break
    case 'SCMP_CMP_LT':
      compare('notLess', otherwise, matches, wanted)
      break
    case 'SCMP_CMP_MASKED_EQ':
      compare('equal', matches, otherwise, BigInt(valueTwo))
      break
    default:
      throw new Error(`unknown comparison ${op} of a seccomp profile`)
  }
  writer.label(matches)
}
