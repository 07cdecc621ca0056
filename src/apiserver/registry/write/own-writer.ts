/** The identity with which the server itself writes objects. */
import { randomUUID } from 'node:crypto'
import type { Registry } from '../registry.ts'
import type { Admission } from './admission.ts'
import { timestamp, type Writer } from './write-context.ts'

export const ownWriter = (registry: Registry, admission: Admission): Writer => ({
  registry,
  admission,
  user: { name: 'system:apiserver', uid: randomUUID(), groups: ['system:masters'] },
  manager: 'kube-apiserver',
  options: { dryRun: false, fieldManager: '', fieldValidation: 'Ignore', force: false },
  warnings: [],
  annotate: () => {},
  now: () => timestamp(registry.clock.now()),
  pause: () => undefined,
})
