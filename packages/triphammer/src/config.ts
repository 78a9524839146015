/**
 * The configuration of the command line, with its type.
 *
 * @module
 */

export { type Config, defineConfig } from './cli/config.ts'
