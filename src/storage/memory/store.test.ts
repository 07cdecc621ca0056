import { storeSuite } from '../suite/index.ts'
import { memoryStore } from './index.ts'

storeSuite('the store in memory', async () => {
  const store = memoryStore()
  return { store, cleanup: () => store.close() }
})
