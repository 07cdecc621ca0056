/** The runtime under torture: `t8s runtime` as a process that is killed and started again. */
import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { ImageStore, importArchive } from '../../../src/runtime/images/index.ts'
import { writeTestImages } from '../../kubelet/support/runtimes/test-images.ts'
import { waitFor } from '../../support/wait-for.ts'

const launcher = join(import.meta.dirname, '../../../t8s')

export class RuntimeUnderTorture {
  readonly endpoint: string
  /** The number of its starts. */
  starts = 0
  readonly #folder: string
  #child: ChildProcess | undefined
  #exited: Promise<void> = Promise.resolve()

  constructor(folder: string) {
    this.#folder = folder
    this.endpoint = `unix://${join(folder, 'runtime.sock')}`
  }

  get pid(): number {
    return this.#child?.pid ?? 0
  }

  async importImages(): Promise<void> {
    const store = new ImageStore(join(this.#folder, 'images'))
    for (const file of writeTestImages(this.#folder)) await importArchive(store, file)
  }

  /** Resolves when it serves. */
  async start(): Promise<void> {
    const { endpoint } = this
    const path = (name: string): string => join(this.#folder, name)
    const folders = [`--root=${path('root')}`, `--state=${path('state')}`, `--image-root=${path('images')}`]
    const network = ['--network=builtin', '--pod-cidr=10.99.0.0/16', '--bridge=torture0']
    const child = spawn(launcher, ['runtime', `--listen=${endpoint}`, ...folders, ...network], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    this.starts++
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output += text
        appendFileSync(path('runtime.log'), text)
      })
    this.#exited = new Promise((resolve) => child.once('close', () => resolve()))
    await waitFor('the runtime serves', () => {
      if (child.exitCode !== null) throw new Error(`the runtime has ended: ${output}`)
      return output.includes('runtime serves on')
    })
  }

  /** Ends it by a signal, and starts it again. */
  async restart(signal: NodeJS.Signals): Promise<void> {
    await this.end(signal)
    await this.start()
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.#child?.kill(signal)
    await this.#exited
  }
}
