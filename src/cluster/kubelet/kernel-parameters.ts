/**
 * Parameters of the kernel on which the kubelet relies: memory is given beyond what is there, so that requests and
 * limits of pods decide; a kernel that fails reboots; keyrings suffice for many containers. The list is upstream's.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { ExplainedError, reasonOf } from '../../lib/explained-error.ts'

const parameters: Readonly<Record<string, number>> = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
}

/**
 * Sets the parameters that differ, and logs each one; with `protectKernelDefaults`, changes nothing.
 * @param root the machine's `/`.
 * @throws an ExplainedError for parameters that differ and are protected, or cannot be set.
 */
export function prepareKernel(protectKernelDefaults: boolean, log: (line: string) => void, root = '/'): void {
  const faults: string[] = []
  for (const [name, expected] of Object.entries(parameters)) {
    const fault = prepareParameter(name, expected, protectKernelDefaults, log, `${root}proc/sys/${name}`)
    if (fault) faults.push(fault)
  }
  if (faults.length === 0) return
  const message = faults.length === 1 ? faults[0] : `[${faults.join(', ')}]`
  const advice = protectKernelDefaults
    ? 'set them with sysctl, or let the kubelet set them with --protect-kernel-defaults=false'
    : 'set them on the machine with sysctl'
  throw new ExplainedError(`failed to set up the parameters of the kernel: ${message}; ${advice}`)
}

/** Returns upstream's message for a parameter that is not as expected. */
function prepareParameter(
  name: string,
  expected: number,
  isProtected: boolean,
  log: (line: string) => void,
  file: string,
): string | undefined {
  const actual = read(file)
  // A kernel that was built without a parameter.
  if (actual === undefined || actual === expected) return undefined
  if (isProtected) return `invalid kernel flag: ${name}, expected value: ${expected}, actual value: ${actual}`
  log(`Updating kernel flag ${name}: expected value ${expected}, actual value ${actual}`)
  try {
    writeFileSync(file, String(expected))
    return undefined
  } catch (error) {
    return `kernel flag ${name} cannot be set to ${expected}: ${reasonOf(error)}`
  }
}

function read(file: string): number | undefined {
  try {
    return Number(readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}
