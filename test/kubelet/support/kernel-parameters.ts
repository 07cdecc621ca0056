/** Parameters of the kernel for tests of kubelets that set them. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Parameters of the kernel that the kubelet sets. */
export const kernelParameters = {
  'vm/overcommit_memory': '0',
  'vm/panic_on_oom': '0',
  'kernel/panic': '0',
  'kernel/panic_on_oops': '1',
  'kernel/keys/root_maxkeys': '200',
  'kernel/keys/root_maxbytes': '25000000',
} as const

/** Files in place of the parameters, in the mount namespace of the test: the machine keeps its own. */
export function ownKernelParameters(root: string): void {
  for (const [name, value] of Object.entries(kernelParameters)) {
    const file = join(root, name.replaceAll('/', '.'))
    writeFileSync(file, `${value}\n`)
    execFileSync('mount', ['--bind', file, `/proc/sys/${name}`])
  }
}
