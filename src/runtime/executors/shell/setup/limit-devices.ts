/** Devices of a cgroup of v2, which has no files for them: a program of BPF decides. */
import { isInUserNamespace } from '../../../../lib/linux/user-namespace.ts'
import type { OciDeviceRule } from '../../../spec/oci-spec.ts'
import { deviceProgram, isUnlimited } from '../cgroups/device-rules.ts'
import type { ProgramWriter } from '../program/program-writer.ts'
import { currentFolder } from './kernel-constants.ts'

const bpfCommands = { load: 5, attach: 8 } as const
const deviceProgramType = 15
const deviceAttachType = 6
const allowSeveral = 2
const attributeBytes = 128
const instructionBytes = 8

/** Limits the devices of a cgroup by its folder. */
export function limitDevices(writer: ProgramWriter, rules: readonly OciDeviceRule[], folder: string): void {
  // The kernel allows it to root of the machine only; a user namespace has no devices but those that are mounted.
  if (isUnlimited(rules) || isInUserNamespace()) return
  const message = 'cannot limit the devices of the cgroup'
  const instructions = deviceProgram(rules)
  const load = Buffer.alloc(attributeBytes)
  load.writeUInt32LE(deviceProgramType, 0)
  load.writeUInt32LE(instructions.length / instructionBytes, 4)
  load.writeBigUInt64LE(BigInt(writer.data(instructions)), 8)
  load.writeBigUInt64LE(BigInt(writer.text('Apache-2.0')), 16)
  const cgroup = writer.open('openat', [currentFolder, folder, 0], { message })
  const program = writer.open('bpf', [bpfCommands.load, writer.data(load), attributeBytes], { message })
  const attach = Buffer.alloc(attributeBytes)
  attach.set(new Uint8Array(new Uint32Array([cgroup, program, deviceAttachType, allowSeveral]).buffer))
  writer.call('bpf', [bpfCommands.attach, writer.data(attach), attributeBytes], { message })
  writer.close(program)
  writer.close(cgroup)
}
