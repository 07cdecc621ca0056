/** `npm run bench -- --services`: modes of kube-proxy with many Services. Needs root. Asserts nothing. */
import { join } from 'node:path'
import { measureInNamespaces } from '../in-namespaces.ts'

export const benchServices = (): Promise<void> =>
  measureInNamespaces(join(import.meta.dirname, 'measure.ts'), '--services')
