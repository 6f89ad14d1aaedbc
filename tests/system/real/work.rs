// SPDX-License-Identifier: Apache-2.0
//! Threads, channels, panics that are caught, a child process, hash maps, sleep.
use std::collections::HashMap;
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

fn work(from: u64, to: u64) -> u64 {
	let mut counts = HashMap::new();
	for i in from..to {
		*counts.entry(i * 7919 % 1009).or_insert(0u64) += i;
	}
	counts.values().fold(0u64, |sum, value| sum.wrapping_add(value * 31))
}

fn main() {
	let (sender, receiver) = mpsc::channel();
	let threads: Vec<_> = (0..8)
		.map(|i| {
			let sender = sender.clone();
			thread::spawn(move || sender.send(work(i * 2000000, (i + 1) * 2000000)).unwrap())
		})
		.collect();
	for thread in threads {
		thread.join().unwrap();
	}
	drop(sender);
	println!("{}", receiver.iter().fold(0u64, |sum, part| sum.wrapping_add(part)));
	std::panic::set_hook(Box::new(|_| {}));
	let caught = (0..500).filter(|i| std::panic::catch_unwind(|| [1, 2, 3][*i % 6]).is_err()).count();
	println!("caught {}", caught);
	let mut child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
	child.stdin.take().unwrap().write_all(b"through a child\n").unwrap();
	print!("{}", String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap());
	thread::sleep(Duration::from_millis(50));
	let status = Command::new("sh").args(["-c", "kill -9 $$"]).status().unwrap();
	println!("{}", status);
	std::process::exit(6);
}
