/** The rights of a container's process, its working directory and its program. */
import { hasOtherUsers } from '../../../../lib/linux/user-namespace.ts'
import { capabilityNumbers } from '../../../spec/capabilities.ts'
import type { CapabilitySet, OciProcess } from '../../../spec/oci-spec.ts'
import { complete } from '../program/program-error.ts'
import type { ProgramWriter } from '../program/program-writer.ts'
import { currentFolder, openFlags } from './kernel-constants.ts'

const prctl = { keepCapabilities: 8, dropBounding: 24, noNewPrivileges: 38, ambient: 47 } as const
const raiseAmbient = 2
const clearAmbient = 4
const capabilityVersion = 0x2008_0522
const getPipeSize = 1032
const setControllingTerminal = 0x540e
const joinSession = 1
const cannotChange = 0xffff_ffff
const closeOnExec = 4

/** Makes the process the leader of a session, and owner of its terminal or of its pipes. */
export function ownStreams(writer: ProgramWriter, { terminal, user }: OciProcess): void {
  writer.call('setsid', [], { ignored: ['EPERM'] })
  if (terminal) {
    const message = 'cannot make the terminal that of the process'
    writer.call('ioctl', [0, setControllingTerminal, 0], { message })
    writer.call('fchown', [0, user.uid, cannotChange], { message })
    return
  }
  for (const file of [0, 1, 2]) {
    writer.call('fcntl', [file, getPipeSize, 0], { onError: `stream ${file}` })
    writer.call('fchown', [file, user.uid, cannotChange], { ignored: ['EPERM'] })
    writer.label(`stream ${file}`)
  }
  // A call without effect, which the label of the last stream belongs to.
  writer.call('keyctl', [joinSession, 0], { ignored: 'all' })
}

const limits =
  'CPU FSIZE DATA STACK CORE RSS NPROC NOFILE MEMLOCK AS LOCKS SIGPENDING MSGQUEUE NICE RTPRIO RTTIME'.split(' ')

export function setLimits(writer: ProgramWriter, { rlimits = [] }: OciProcess): void {
  for (const { type, soft, hard } of rlimits) {
    const number = limits.indexOf(type.replace(/^RLIMIT_/, ''))
    if (number === -1) throw new Error(`unknown limit ${type}`)
    const bytes = Buffer.alloc(16)
    bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(soft)), 0)
    bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(hard)), 8)
    writer.call('prlimit64', [0, number, writer.data(bytes), 0], { message: `error setting rlimit type ${type}` })
  }
}

/** The profile holds from the next `execve` on. */
export function setAppArmor(writer: ProgramWriter, { apparmorProfile }: OciProcess): void {
  if (apparmorProfile === undefined) return
  const message = `unable to apply apparmor profile ${apparmorProfile}`
  const text = Buffer.from(`exec ${apparmorProfile}`)
  const file = writer.open('openat', [currentFolder, ownProfile, openFlags.write], { message })
  writer.call('write', [file, writer.data(text), text.length], { message })
  writer.close(file)
}

/** Since Linux 5.8, `attr/exec` may be that of another security module. */
const ownProfile = '/proc/self/attr/apparmor/exec'

/** Changes the user and drops capabilities. `filter` is called where a filter of system calls has to be set. */
export function setIdentity(writer: ProgramWriter, process: OciProcess, filter: () => void): void {
  const { user, capabilities, noNewPrivileges } = process
  const message = 'cannot set the user and capabilities of the process'
  const call = (name: 'prctl' | 'setgroups' | 'setresgid' | 'setresuid' | 'capset', args: number[]): void =>
    writer.call(name, args, { message })
  call('prctl', [prctl.keepCapabilities, 1, 0, 0, 0])
  const numbers = numbersOf(process)
  for (const [name, number] of capabilityNumbers)
    if (!capabilities.bounding.includes(name))
      writer.call('prctl', [prctl.dropBounding, number, 0, 0, 0], { message, ignored: ['EINVAL'] })
  // Without no_new_privs, a filter needs a capability that the container may lack.
  if (!noNewPrivileges) filter()
  const groups = Buffer.from(new Uint32Array(user.additionalGids).buffer)
  // A user namespace without other users has no groups to set.
  if (hasOtherUsers()) call('setgroups', [user.additionalGids.length, writer.data(groups)])
  call('setresgid', [user.gid, user.gid, user.gid])
  call('setresuid', [user.uid, user.uid, user.uid])
  const header = Buffer.alloc(8)
  header.writeUInt32LE(capabilityVersion)
  call('capset', [writer.data(header), writer.data(capabilityBytes(numbers))])
  writer.call('prctl', [prctl.ambient, clearAmbient, 0, 0, 0], { message, ignored: ['EINVAL'] })
  for (const number of numbers.ambient) call('prctl', [prctl.ambient, raiseAmbient, number, 0, 0])
  call('prctl', [prctl.keepCapabilities, 0, 0, 0, 0])
  if (!noNewPrivileges) return
  call('prctl', [prctl.noNewPrivileges, 1, 0, 0, 0])
  filter()
}

type Numbers = Readonly<Record<CapabilitySet, readonly number[]>>

function numbersOf({ capabilities }: OciProcess): Numbers {
  const of = (set: CapabilitySet): number[] =>
    capabilities[set].map((name) => {
      const number = capabilityNumbers.get(name)
      if (number === undefined) throw new Error(`unknown capability ${JSON.stringify(name)}`)
      return number
    })
  return {
    bounding: of('bounding'),
    effective: of('effective'),
    permitted: of('permitted'),
    inheritable: of('inheritable'),
    ambient: of('ambient'),
  }
}

/** Two `__user_cap_data_struct`: the lower 32 bits of the effective, permitted and inheritable set, then the others. */
function capabilityBytes({ effective, permitted, inheritable }: Numbers): Buffer {
  const bytes = Buffer.alloc(24)
  ;[effective, permitted, inheritable].forEach((set, index) => {
    const bits = set.reduce((sum, number) => sum | (1n << BigInt(number)), 0n)
    bytes.writeUInt32LE(Number(bits & 0xffff_ffffn), index * 4)
    bytes.writeUInt32LE(Number(bits >> 32n), 12 + index * 4)
  })
  return bytes
}

/**
 * Runs the program of a container with its rights. `started` is called before, `failed` if it cannot be run.
 *
 * The working directory may be one that only root or only the user can enter.
 */
export function runProcess(
  writer: ProgramWriter,
  process: OciProcess,
  { filter, started, failed }: { filter: () => void; started: () => void; failed: () => void },
): void {
  const message = `chdir to cwd (${JSON.stringify(process.cwd)}) set in config.json failed`
  const finish = (): void => {
    started()
    execute(writer, process, failed)
  }
  writer.call('close_range', [3, 0xffff_ffff, closeOnExec])
  writer.call('chdir', [process.cwd], { onError: 'late' })
  setIdentity(writer, process, filter)
  finish()
  writer.label('late')
  setIdentity(writer, process, filter)
  writer.call('chdir', [process.cwd], { message })
  finish()
}

const defaultPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The last error is that of a program that exists, as of `execvp`. */
function execute(writer: ProgramWriter, { args, env }: OciProcess, failed: () => void): void {
  const [name = ''] = args
  const quoted = JSON.stringify(name)
  const paths = candidates(name, env)
  const [argumentTexts, environment] = [writer.texts(args), writer.texts(env)]
  for (const path of paths) writer.call('execve', [path, argumentTexts, environment], { ignored: 'all' })
  failed()
  if (name.includes('/')) {
    const message = `exec: ${quoted}`
    writer.call('execve', [name, argumentTexts, environment], { message, ignored: ['ENOENT'] })
    writer.call('execve', [name, argumentTexts, environment], { message, exitCode: notFoundCode })
    return
  }
  for (const path of paths)
    writer.call('execve', [path, argumentTexts, environment], {
      message: `exec: ${JSON.stringify(path)}`,
      ignored: ['ENOENT', 'ENOTDIR'],
    })
  writer.call('close', [-1], {
    message: `exec: ${quoted}: executable file not found in $PATH${complete}`,
    exitCode: notFoundCode,
  })
}

const notFoundCode = 127

function candidates(name: string, env: readonly string[]): string[] {
  if (name.includes('/')) return [name]
  const path = env.findLast((variable) => variable.startsWith('PATH='))?.slice('PATH='.length) ?? defaultPath
  return path.split(':').map((folder) => `${folder || '.'}/${name}`)
}
