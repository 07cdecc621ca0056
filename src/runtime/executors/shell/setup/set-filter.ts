/** Sets the filter of system calls of a container. */
import type { OciSeccomp } from '../../../spec/oci-spec.ts'
import type { ProgramWriter } from '../program/program-writer.ts'
import { seccompFilter, seccompFlags } from '../seccomp/seccomp-filter.ts'

const setModeFilter = 1
const instructionBytes = 8

/** Returns a function that adds the call, which may be added several times. */
export function filterSetter(writer: ProgramWriter, profile: OciSeccomp | undefined): () => void {
  if (!profile) return () => {}
  const instructions = seccompFilter(profile)
  const program = Buffer.alloc(16)
  program.writeUInt16LE(instructions.length / instructionBytes)
  program.writeBigUInt64LE(BigInt(writer.data(instructions)), 8)
  const address = writer.data(program)
  return () =>
    writer.call('seccomp', [setModeFilter, seccompFlags(profile), address], {
      message: 'cannot set the seccomp filter',
    })
}
