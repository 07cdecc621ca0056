/** The tests of containers with runc. */
import { spawnSync } from 'node:child_process'
import { testOnExecutor } from '../support/tests-on-executor.ts'

const skip = spawnSync('runc', ['--version']).error ? 'runc is not installed' : false

testOnExecutor('runc', ['containers.test.ts', 'isolation.test.ts'], skip)
