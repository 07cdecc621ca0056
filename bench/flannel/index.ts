/** `npm run bench -- --flannel`: pods across nodes, by flannel and by hand. Needs root and iperf3. Asserts nothing. */
import { join } from 'node:path'
import { measureInNamespaces } from '../in-namespaces.ts'

export async function benchFlannel(): Promise<void> {
  for (const script of ['measure.ts', 'udp.ts'])
    await measureInNamespaces(join(import.meta.dirname, script), '--flannel')
}
