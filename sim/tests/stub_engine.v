// Not an engine: the ports of one, registers that keep what is written, a copy machine behind the AXI
// master, and an echo on each plane. It tests what stands around an engine.
module osprey_engine_stub (
    input wire clock, input wire reset,
    input wire [31:0] s_axil_awaddr, input wire s_axil_awvalid, output wire s_axil_awready,
    input wire [31:0] s_axil_wdata, input wire [3:0] s_axil_wstrb, input wire s_axil_wvalid,
    output wire s_axil_wready, output wire [1:0] s_axil_bresp, output wire s_axil_bvalid, input wire s_axil_bready,
    input wire [31:0] s_axil_araddr, input wire s_axil_arvalid, output wire s_axil_arready,
    output wire [31:0] s_axil_rdata, output wire [1:0] s_axil_rresp, output wire s_axil_rvalid, input wire s_axil_rready,
    output wire [63:0] m_axi_awaddr, output wire [7:0] m_axi_awlen, output wire m_axi_awvalid, input wire m_axi_awready,
    output wire [511:0] m_axi_wdata, output wire [63:0] m_axi_wstrb, output wire m_axi_wlast, output wire m_axi_wvalid,
    input wire m_axi_wready, input wire [1:0] m_axi_bresp, input wire m_axi_bvalid, output wire m_axi_bready,
    output wire [63:0] m_axi_araddr, output wire [7:0] m_axi_arlen, output wire m_axi_arvalid, input wire m_axi_arready,
    input wire [511:0] m_axi_rdata, input wire [1:0] m_axi_rresp, input wire m_axi_rlast, input wire m_axi_rvalid,
    output wire m_axi_rready,
    input wire [511:0] rx0_tdata, input wire [63:0] rx0_tkeep, input wire rx0_tlast, input wire rx0_tuser, input wire rx0_tvalid,
    output wire [511:0] tx0_tdata, output wire [63:0] tx0_tkeep, output wire tx0_tlast, output wire tx0_tvalid, input wire tx0_tready,
    input wire [511:0] rx1_tdata, input wire [63:0] rx1_tkeep, input wire rx1_tlast, input wire rx1_tuser, input wire rx1_tvalid,
    output wire [511:0] tx1_tdata, output wire [63:0] tx1_tkeep, output wire tx1_tlast, output wire tx1_tvalid, input wire tx1_tready,
    input wire [1:0] link_up, output wire completion_interrupt
);
    // Registers, by word. 0x20: links (read only). 0x40, 0x44: source; 0x48, 0x4c: target; 0x50: start, busy.
    reg [31:0] file [0:1023];
    reg aw_full, w_full, b_full, r_full;
    reg [31:0] aw_held, w_held, r_held;
    assign s_axil_awready = !aw_full;
    assign s_axil_wready = !w_full;
    assign s_axil_bvalid = b_full;
    assign s_axil_bresp = 2'b00;
    assign s_axil_arready = !r_full;
    assign s_axil_rvalid = r_full;
    assign s_axil_rdata = r_held;
    assign s_axil_rresp = 2'b00;

    // The copy machine: one beat from source to target.
    reg [2:0] state;
    reg [511:0] beat;
    reg aw_sent, w_sent;
    assign m_axi_araddr = {file[17], file[16]};
    assign m_axi_arlen = 8'd0;
    assign m_axi_arvalid = state == 1;
    assign m_axi_rready = state == 2;
    assign m_axi_awaddr = {file[19], file[18]};
    assign m_axi_awlen = 8'd0;
    assign m_axi_awvalid = state == 3 && !aw_sent;
    assign m_axi_wdata = beat;
    assign m_axi_wstrb = 64'hffff_ffff_ffff_fffe;
    assign m_axi_wlast = 1'b1;
    assign m_axi_wvalid = state == 3 && !w_sent;
    assign m_axi_bready = state == 4;
    assign completion_interrupt = state != 0;

    integer i;
    always @(posedge clock) begin
        if (reset) begin
            {aw_full, w_full, b_full, r_full, state, aw_sent, w_sent} <= 0;
            for (i = 0; i < 1024; i = i + 1) file[i] <= 0;
        end else begin
            if (s_axil_awvalid && s_axil_awready) {aw_full, aw_held} <= {1'b1, s_axil_awaddr};
            if (s_axil_wvalid && s_axil_wready) {w_full, w_held} <= {1'b1, s_axil_wdata};
            if (aw_full && w_full && !b_full) begin
                file[aw_held[11:2]] <= w_held;
                {aw_full, w_full, b_full} <= 3'b001;
                if (aw_held[11:0] == 12'h050) state <= 1;
            end
            if (b_full && s_axil_bready) b_full <= 0;
            if (s_axil_arvalid && s_axil_arready) begin
                r_full <= 1;
                r_held <= s_axil_araddr[11:0] == 12'h050 ? {29'd0, state}
                        : s_axil_araddr[11:0] == 12'h020 ? {30'd0, link_up} : file[s_axil_araddr[11:2]];
            end
            if (r_full && s_axil_rready) r_full <= 0;
            if (state == 1 && m_axi_arready) state <= 2;
            if (state == 2 && m_axi_rvalid) begin beat <= m_axi_rdata; state <= 3; end
            if (state == 3) begin
                if (m_axi_awready) aw_sent <= 1;
                if (m_axi_wready) w_sent <= 1;
                if ((aw_sent || m_axi_awready) && (w_sent || m_axi_wready)) state <= 4;
            end
            if (state == 4 && m_axi_bvalid) {state, aw_sent, w_sent} <= 0;
        end
    end

    stub_echo echo0 (clock, reset, rx0_tdata, rx0_tkeep, rx0_tlast, rx0_tvalid,
                     tx0_tdata, tx0_tkeep, tx0_tlast, tx0_tvalid, tx0_tready);
    stub_echo echo1 (clock, reset, rx1_tdata, rx1_tkeep, rx1_tlast, rx1_tvalid,
                     tx1_tdata, tx1_tkeep, tx1_tlast, tx1_tvalid, tx1_tready);
endmodule

module stub_echo (
    input wire clock, input wire reset,
    input wire [511:0] in_data, input wire [63:0] in_keep, input wire in_last, input wire in_valid,
    output wire [511:0] out_data, output wire [63:0] out_keep, output wire out_last, output wire out_valid, input wire out_ready
);
    reg [576:0] beats [0:1023];
    reg [9:0] head, tail;
    assign {out_last, out_keep, out_data} = beats[tail];
    assign out_valid = head != tail;
    always @(posedge clock) begin
        if (reset) {head, tail} <= 0;
        else begin
            if (in_valid) begin beats[head] <= {in_last, in_keep, in_data}; head <= head + 1; end
            if (out_valid && out_ready) tail <= tail + 1;
        end
    end
endmodule
