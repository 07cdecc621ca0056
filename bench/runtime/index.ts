/**
 * `npm run bench -- --runtime`: containers of `t8s runtime` beside `crun run` and Debian's containerd, unpacking beside
 * `tar`, and a real node of `t8s up`. Needs root, crun and containerd. Asserts nothing.
 */
import { join } from 'node:path'
import { measureInNamespaces } from '../in-namespaces.ts'

export const benchRuntime = (): Promise<void> =>
  measureInNamespaces(join(import.meta.dirname, 'measure.ts'), '--runtime')
