/** The seccomp profile of a container: the runtime's own, a file, or none. */
import { readFileSync } from 'node:fs'
import { machine } from 'node:os'
import { SecurityProfile_ProfileType as ProfileType, type SecurityProfile } from '#protobuf/cri-values_pb.js'
import type { OciSeccomp, OciSyscallArgument, OciSyscallRule } from '../oci-spec.ts'
import { defaultProfile } from './default-profile.ts'

/** The names of seccomp for a machine's architecture and its 32-bit variants. */
const architectures: Readonly<Record<string, readonly string[]>> = {
  x86_64: ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_X32'],
  aarch64: ['SCMP_ARCH_AARCH64', 'SCMP_ARCH_ARM'],
}

/** Undefined for unconfined and for privileged containers. Throws an Error for a file that is no profile. */
export function seccompOf(
  isPrivileged: boolean,
  profile: SecurityProfile | undefined,
  capabilities: readonly string[],
): OciSeccomp | undefined {
  if (isPrivileged || !profile || profile.profileType === ProfileType.Unconfined) return undefined
  const own = architectures[machine()] ?? []
  if (profile.profileType === ProfileType.RuntimeDefault) return defaultProfile(own, capabilities)
  return readProfile(profile.localhostRef.replace(/^localhost\//, ''), own, capabilities)
}

/** A profile of Docker's format, which is that of the OCI specification with conditions. */
interface ProfileFile {
  readonly defaultAction?: string
  readonly defaultErrnoRet?: number
  readonly architectures?: readonly string[] | null
  readonly archMap?: readonly { readonly architecture: string; readonly subArchitectures?: readonly string[] }[]
  readonly flags?: readonly string[]
  readonly syscalls?: readonly (Omit<OciSyscallRule, 'names' | 'args'> & {
    readonly name?: string
    readonly names?: readonly string[]
    readonly args?: readonly OciSyscallArgument[] | null
    readonly includes?: { readonly caps?: readonly string[] }
    readonly excludes?: { readonly caps?: readonly string[] }
  })[]
}

function readProfile(file: string, own: readonly string[], capabilities: readonly string[]): OciSeccomp {
  const { defaultAction, defaultErrnoRet, flags, syscalls = [], ...profile } = decode(file)
  if (!defaultAction) throw new Error(`seccomp profile ${file} has no defaultAction`)
  const mapped = profile.archMap?.find(({ architecture }) => own.includes(architecture))
  const listed = profile.architectures ?? (mapped ? [mapped.architecture, ...(mapped.subArchitectures ?? [])] : own)
  return {
    defaultAction,
    ...(defaultErrnoRet !== undefined && { defaultErrnoRet }),
    architectures: listed.filter((name) => own.includes(name)),
    ...(flags && { flags }),
    syscalls: syscalls
      .filter(({ includes, excludes }) => {
        const has = (name: string): boolean => capabilities.includes(name)
        return (includes?.caps ?? []).every(has) && !(excludes?.caps ?? []).some(has)
      })
      .map(({ name, names = name ? [name] : [], action, errnoRet, args }) => ({
        names,
        action,
        ...(errnoRet !== undefined && { errnoRet }),
        ...(args && args.length > 0 && { args }),
      })),
  }
}

function decode(file: string): ProfileFile {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as ProfileFile
  } catch (error) {
    throw new Error(`failed to load seccomp profile ${JSON.stringify(file)}`, { cause: error })
  }
}
