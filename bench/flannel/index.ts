/** `npm run bench -- --flannel`: backends of flannel. Needs root and iperf3. Asserts nothing. */
import { join } from 'node:path'
import { measureInNamespaces } from '../in-namespaces.ts'

export const benchFlannel = (): Promise<void> => measureInNamespaces(join(import.meta.dirname, 'udp.ts'), '--flannel')
