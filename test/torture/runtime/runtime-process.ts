/** `t8s runtime` under torture. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { CriRuntime } from '../../../src/kubelet/cri/runtime.ts'
import { ImageStore, importArchive } from '../../../src/runtime/images/index.ts'
import { writeTestImages } from '../../kubelet/support/runtimes/test-images.ts'
import { ProgramProcess } from '../program-process.ts'
import { tortureCriPod } from './cri-pod.ts'
import type { PodPlan } from './pod-plan.ts'
import type { Tortured } from './tortured.ts'

/** `folder` gets all its files. */
export async function tortureOfRuntime(folder: string): Promise<Tortured> {
  const path = (name: string): string => join(folder, name)
  const store = new ImageStore(path('images'))
  for (const file of writeTestImages(folder)) await importArchive(store, file)
  mkdirSync(path('logs'))
  const endpoint = `unix://${path('runtime.sock')}`
  const folders = [`--root=${path('root')}`, `--state=${path('state')}`, `--image-root=${path('images')}`]
  const network = ['--network=builtin', '--pod-cidr=10.99.0.0/16', '--bridge=torture0']
  const program = new ProgramProcess({
    words: ['runtime', `--listen=${endpoint}`, ...folders, ...network],
    ready: 'runtime serves on',
    log: path('runtime.log'),
  })
  const client = new CriRuntime(endpoint)
  return {
    get pid() {
      return program.pid
    },
    folders: [folder],
    emptyFolders: [path('state/containers'), path('state/sandboxes')],
    start: () => program.start(),
    restart: (signal) => program.restart(signal),
    async end(signal) {
      client.close()
      await program.end(signal)
    },
    runPod: (plan: PodPlan) => tortureCriPod(client, plan, path('logs')),
  }
}
