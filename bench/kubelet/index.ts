/**
 * `npm run bench -- --kubelet`: a kubelet on Debian's containerd, beside upstream's numbers and containerd's own share.
 * Needs root. Asserts nothing.
 */
import { join } from 'node:path'
import { measureInNamespaces } from '../in-namespaces.ts'

export const benchKubelet = (): Promise<void> =>
  measureInNamespaces(join(import.meta.dirname, 'measure.ts'), '--kubelet')
