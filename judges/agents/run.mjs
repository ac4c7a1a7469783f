// Runs a program of one of the packages, with a home folder that goes away, and
// gives back what it printed.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

export async function run(program, ...args) {
  try {
    const { stdout } = await execute(process.execPath, [`node_modules/.bin/${program}`, ...args], { env: { ...process.env, HOME: process.env.SCRATCH }, timeout: 60_000, killSignal: 'SIGKILL', maxBuffer: 64 << 20 })
    return stdout
  } catch (err) {
    throw new Error(`${program} ended with ${err.code ?? err.signal}\n${err.stdout}\n${err.stderr}`)
  }
}
