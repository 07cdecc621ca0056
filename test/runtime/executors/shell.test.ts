/** The tests of containers with the executor that needs no OCI runtime. */
import { testOnExecutor } from '../support/tests-on-executor.ts'

const names = ['containers', 'streams', 'isolation', 'image-volumes', 'metrics']

testOnExecutor(
  'shell',
  names.map((name) => `${name}.test.ts`),
)
