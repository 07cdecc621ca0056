/** Devices that the processes of a cgroup can use: lines of cgroup v1, or a program of the kernel's BPF for v2. */
import type { OciDeviceRule } from '../../../spec/oci-spec.ts'

const allow = (access: string, major?: number, minor?: number, type = 'c'): OciDeviceRule => ({
  allow: true,
  access,
  type,
  ...(major !== undefined && { major }),
  ...(minor !== undefined && { minor }),
})

/** Those of all containers: to make device files, null, zero, full, random, urandom, tty, ptmx and terminals. */
const standard: readonly OciDeviceRule[] = [
  allow('m'),
  allow('m', undefined, undefined, 'b'),
  ...[3, 5, 7, 8, 9].map((minor) => allow('rwm', 1, minor)),
  allow('rwm', 5, 0),
  allow('rwm', 5, 2),
  allow('rwm', 136),
]

/** True if all devices are allowed. */
export function isUnlimited(rules: readonly OciDeviceRule[]): boolean {
  const last = rules.findLast(({ type = 'a' }) => type === 'a')
  return last === undefined || last.allow
}

/** The rules after the one that denies all. A later one overrides an earlier one. */
export const allRules = (rules: readonly OciDeviceRule[]): readonly OciDeviceRule[] => [
  ...standard,
  ...rules.filter(({ type = 'a' }) => type !== 'a'),
]

const numberText = (number: number | undefined): string => (number === undefined || number < 0 ? '*' : String(number))

/** Such as `c 1:3 rwm`. */
export const ruleText = ({ type, major, minor, access }: OciDeviceRule): string =>
  `${type} ${numberText(major)}:${numberText(minor)} ${access}`

const types: Readonly<Record<string, number>> = { b: 1, c: 2 }
const accesses: Readonly<Record<string, number>> = { m: 1, r: 2, w: 4 }

/** Operations of BPF. */
const bpf = {
  load: 0x61,
  copy: 0xbf,
  set: 0xb7,
  and: 0x57,
  shift: 0x77,
  jumpIf: 0x15,
  jumpUnless: 0x55,
  exit: 0x95,
} as const
const instructionBytes = 8

/** Registers: 0 result, 1 the context, 2 type, 3 access, 4 major and 5 minor number, 6 for calculations. */
function instruction(code: number, target = 0, { source = 0, offset = 0, value = 0 } = {}): Buffer {
  const bytes = Buffer.alloc(instructionBytes)
  bytes.writeUInt8(code, 0)
  bytes.writeUInt8(target | (source << 4), 1)
  bytes.writeInt16LE(offset, 2)
  bytes.writeInt32LE(value, 4)
  return bytes
}

/** The instructions of a program of the type `cgroup/dev`. */
export function deviceProgram(rules: readonly OciDeviceRule[]): Buffer {
  return Buffer.concat([
    instruction(bpf.load, 2, { source: 1 }),
    instruction(bpf.copy, 3, { source: 2 }),
    instruction(bpf.and, 2, { value: 0xffff }),
    instruction(bpf.shift, 3, { value: 16 }),
    instruction(bpf.load, 4, { source: 1, offset: 4 }),
    instruction(bpf.load, 5, { source: 1, offset: 8 }),
    ...[...allRules(rules)].reverse().map(ruleInstructions),
    ...result(false),
  ])
}

const result = (isAllowed: boolean): Buffer[] => [
  instruction(bpf.set, 0, { value: isAllowed ? 1 : 0 }),
  instruction(bpf.exit),
]

/** Ends the program if the rule applies. A rule that allows applies if it has each access that is wanted. */
function ruleInstructions({ allow: isAllowed, type = '', major, minor, access }: OciDeviceRule): Buffer {
  const mask = [...access].reduce((sum, letter) => sum | (accesses[letter] ?? 0), 0)
  const checks: [register: number, value: number][] = [[2, types[type] ?? 0]]
  if (major !== undefined && major >= 0) checks.push([4, major])
  if (minor !== undefined && minor >= 0) checks.push([5, minor])
  const end = result(isAllowed)
  const accessLength = 3
  const length = checks.length + accessLength + end.length
  return Buffer.concat([
    ...checks.map(([register, value], index) =>
      instruction(bpf.jumpUnless, register, { value, offset: length - index - 1 }),
    ),
    instruction(bpf.copy, 6, { source: 3 }),
    instruction(bpf.and, 6, { value: isAllowed ? ~mask : mask }),
    instruction(isAllowed ? bpf.jumpUnless : bpf.jumpIf, 6, { offset: end.length }),
    ...end,
  ])
}
