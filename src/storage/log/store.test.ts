import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { storeSuite } from '../suite/store-suite.fixture.ts'
import { openLogStore, type Tuning } from './index.ts'
import { type Disk, systemDisk } from './writing/disk.ts'

function suite(name: string, tuning?: Partial<Tuning>): void {
  storeSuite(name, async () => {
    const directory = await mkdtemp(join(tmpdir(), 't8s-store-'))
    let refusing = false
    const disk: Disk = {
      write: (fd, bytes, position) =>
        refusing ? Promise.reject(new Error('the disk refuses writes')) : systemDisk.write(fd, bytes, position),
    }
    const open = () => openLogStore({ directory, tuning: { probeMs: 2, ...tuning, disk } })
    let store = await open()
    return {
      store,
      reopen: async () => {
        await store.close()
        store = await open()
        return store
      },
      refuseWrites: () => {
        refusing = true
        return () => {
          refusing = false
        }
      },
      cleanup: async () => {
        await store.close()
        await rm(directory, { recursive: true })
      },
    }
  })
}

suite('the store on a log')
suite('the store on a log of many small files, cleaned constantly', {
  segmentBytes: 4096,
  cleaning: { minBytes: 8192, moveBytes: 2048, pauseMs: 0 },
})
