/** `npm run bench -- --policies`: network policies of many pods. Needs root. Asserts nothing. */
import { join } from 'node:path'
import { measureInNamespaces } from '../in-namespaces.ts'

export const benchPolicies = (): Promise<void> =>
  measureInNamespaces(join(import.meta.dirname, 'measure.ts'), '--policies')
