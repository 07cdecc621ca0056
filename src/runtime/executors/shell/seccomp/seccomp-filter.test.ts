import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OciSeccomp } from '../../../spec/oci-spec.ts'
import { defaultProfile } from '../../../spec/seccomp/default-profile.ts'
import { filterNumbers } from './call-numbers.ts'
import { seccompFilter } from './seccomp-filter.ts'

const architecture = 0xc000_003e
const numberOf = (name: string): number => filterNumbers.x64!.get(name)!

/** Runs a filter as the kernel does. Returns the result for a call. */
function resultOf(filter: Buffer, number: number, args: readonly bigint[] = [], machine = architecture): number {
  const call = Buffer.alloc(64)
  call.writeUInt32LE(number, 0)
  call.writeUInt32LE(machine, 4)
  args.forEach((value, index) => void call.writeBigUInt64LE(value, 16 + index * 8))
  let accumulator = 0
  for (let index = 0; ; index++) {
    const at = index * 8
    const value = filter.readUInt32LE(at + 4)
    const jump = (condition: boolean): void => {
      index += filter.readUInt8(at + (condition ? 2 : 3))
    }
    switch (filter.readUInt16LE(at)) {
      case 0x20:
        accumulator = call.readUInt32LE(value)
        break
      case 0x54:
        accumulator = (accumulator & value) >>> 0
        break
      case 0x05:
        index += value
        break
      case 0x15:
        jump(accumulator === value)
        break
      case 0x25:
        jump(accumulator > value)
        break
      case 0x35:
        jump(accumulator >= value)
        break
      default:
        return value
    }
  }
}

const allow = 0x7fff_0000
const deny = 0x5_0001
const kill = 0x8000_0000

test('the default profile allows ordinary calls and denies those that change the machine', () => {
  const filter = seccompFilter(defaultProfile(['SCMP_ARCH_X86_64'], []), 'x64')
  for (const name of ['read', 'execve', 'openat', 'futex', 'prctl'])
    assert.equal(resultOf(filter, numberOf(name)), allow, name)
  for (const name of ['mount', 'reboot', 'bpf', 'init_module', 'unshare'])
    assert.equal(resultOf(filter, numberOf(name)), deny, name)
  assert.equal(resultOf(filter, numberOf('clone'), [0x11n]), allow)
  assert.equal(resultOf(filter, numberOf('clone'), [0x1000_0011n]), deny)
  assert.equal(resultOf(filter, numberOf('clone3')), 0x5_0026)
  assert.equal(resultOf(filter, numberOf('socket'), [2n]), allow)
  assert.equal(resultOf(filter, numberOf('socket'), [40n]), deny)
  assert.equal(resultOf(filter, numberOf('personality'), [0xffff_ffffn]), allow)
  assert.equal(resultOf(filter, numberOf('personality'), [0x1_0000_0000n]), deny)
})

test('calls of other architectures are killed, and those of x32 do not exist', () => {
  const filter = seccompFilter({ defaultAction: 'SCMP_ACT_ALLOW' }, 'x64')
  assert.equal(resultOf(filter, 1, [], 0x4000_0003), kill)
  assert.equal(resultOf(filter, 0x4000_0001), 0x5_0026)
  assert.equal(resultOf(filter, 1), allow)
})

const comparisons: readonly [op: string, value: number, matches: bigint[], others: bigint[]][] = [
  ['SCMP_CMP_EQ', 0x1_0000_0002, [0x1_0000_0002n], [2n, 0x1_0000_0000n]],
  ['SCMP_CMP_NE', 5, [4n, 0x1_0000_0005n], [5n]],
  ['SCMP_CMP_LT', 0x1_0000_0002, [0n, 0x1_0000_0001n], [0x1_0000_0002n, 0x2_0000_0000n]],
  ['SCMP_CMP_LE', 0x1_0000_0002, [9n, 0x1_0000_0002n], [0x1_0000_0003n, 0x2_0000_0000n]],
  ['SCMP_CMP_GE', 7, [7n, 0x1_0000_0000n], [6n]],
  ['SCMP_CMP_GT', 7, [8n, 0x1_0000_0000n], [7n]],
]

test('arguments are compared with all of their 64 bits', () => {
  for (const [op, value, matches, others] of comparisons) {
    const profile: OciSeccomp = {
      defaultAction: 'SCMP_ACT_ALLOW',
      syscalls: [{ names: ['dup'], action: 'SCMP_ACT_ERRNO', args: [{ index: 1, value, op }] }],
    }
    const filter = seccompFilter(profile, 'x64')
    for (const one of matches) assert.equal(resultOf(filter, numberOf('dup'), [0n, one]), deny, `${op} ${one}`)
    for (const one of others) assert.equal(resultOf(filter, numberOf('dup'), [0n, one]), allow, `${op} ${one}`)
  }
})

test('an action that no filter can take is refused', () => {
  assert.throws(() => seccompFilter({ defaultAction: 'SCMP_ACT_NOTIFY' }, 'x64'), /SCMP_ACT_NOTIFY needs crun or runc/)
})
